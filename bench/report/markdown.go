package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writer collects lines.
type writer struct{ b strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// cells begins a table of which the first column is named, then the others.
func (w *writer) cells(first string, others []string) {
	w.line("| %s | %s |", first, strings.Join(others, " | "))
	w.line("|---|%s", strings.Repeat("---|", len(others)))
}

// markdown is the page.
func markdown(p *peersFile, c *curvesFile, notes string) string {
	w := new(writer)
	w.line("# Performance\n")
	w.line("SmolLM2-135M-Instruct on CPUs. Absolute figures change with the machine and with what else it does; the ratios in one run are the result.")
	w.line("`make bench-compare` measures all of it, and `go run ./bench/report` makes this page from the measurements in [performance](performance),")
	w.line("in which every single one is. [bench/compare](../bench/compare/README.md) says how it is measured, and what each engine is given.\n")
	w.line("## The aims\n")
	w.line("Ratios are those of medians, on the same weights: cbactor to those that run the GGUF, cbactor-bf16 to those that run bf16.\n")
	p.writeAims(w)
	w.line("\n## Side by side\n")
	w.about(&p.about, fmt.Sprintf("bench/compare/compare.py --rounds %d --engines %s", p.rounds(), strings.Join(p.names(), ",")))
	p.writeEngines(w)
	w.line("")
	for _, name := range workloads {
		if _, measured := p.Workloads[name]; measured {
			p.writeWorkload(w, name)
		}
	}
	w.line("## Over the batch and the context\n")
	w.about(&c.about, fmt.Sprintf("bench/compare/curves.py --model %s --rounds %d", c.Model, c.rounds()))
	w.line("Each point is `cbactor bench --batch N --context N`: prompts are in the cache, and so many sequences decode until they have that context.\n")
	c.write(w)
	if notes != "" {
		w.line("%s", strings.TrimSpace(notes))
	}
	return strings.TrimSpace(w.b.String()) + "\n"
}

// about tells when, with what and on what it was measured.
func (w *writer) about(a *about, command string) {
	w.line("`%s`, %s, %s.\n", command, a.Date, a.Cbactor)
	m := a.Machine
	facts := []string{fmt.Sprintf("%d cores of %s", m.Cores, m.CPU), strings.Join(m.Flags, " ")}
	for _, level := range slices.Sorted(maps.Keys(m.Caches)) {
		facts = append(facts, level+" "+m.Caches[level])
	}
	w.line("%s; %.1f GiB of memory; Linux %s.\n", strings.Join(facts, "; "), m.Memory, m.Kernel)
}

// rounds are how many there were.
func (p *peersFile) rounds() (n int) {
	for _, r := range p.Runs {
		n = max(n, r.Round)
	}
	return n
}

func (c *curvesFile) rounds() (n int) {
	for _, r := range c.Runs {
		n = max(n, r.Round)
	}
	return n
}
