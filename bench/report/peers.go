package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/internal/charts"
)

// withoutAMX is the end of an engine's name that is kept from AMX.
const withoutAMX = "-no-amx"

// The engines and workloads in the order in which they are told; see engines.py.
var (
	engines   = []string{"cbactor", "openvino", "llama.cpp", "cbactor-bf16", "vllm", "transformers"}
	workloads = []string{"single", "decode", "mixed", "shared"}
)

// values are an engine's tokens per second on a workload, and how many runs have failed.
func (p *peersFile) values(engine, workload string) (values []float64, failed int) {
	for _, r := range p.Runs {
		switch {
		case r.Engine != engine || r.Workload != workload:
		case r.Error != "":
			failed++
		default:
			values = append(values, r.PerS)
		}
	}
	return values, failed
}

// median is NaN of nothing.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// ratio is that of medians: cbactor's with the engine's weights to the engine's. NaN: one
// is missing.
func (p *peersFile) ratio(engine, workload string) float64 {
	own := "cbactor"
	if p.Engines[engine].Weights == p.Engines["cbactor-bf16"].Weights {
		own = "cbactor-bf16"
	}
	base, _ := p.values(own, workload)
	theirs, _ := p.values(engine, workload)
	return median(base) / median(theirs)
}

// charts are the bars of each workload by the names of their files.
func (p *peersFile) charts() map[string][]byte {
	files := map[string][]byte{}
	for _, workload := range workloads {
		c := charts.BarChart{Title: workload + ": median of generated tokens per second", Unit: "tokens/s", Groups: engines,
			Series: []charts.Bar{{Name: "as it comes"}, {Name: "kept from AMX"}}}
		for i, suffix := range []string{"", withoutAMX} {
			for _, engine := range engines {
				values, _ := p.values(engine+suffix, workload)
				c.Series[i].Values = append(c.Series[i].Values, median(values))
			}
		}
		files[workload+".svg"] = charts.Bars(c)
	}
	return files
}

// writeEngines tells what each engine is.
func (p *peersFile) writeEngines(w *writer) {
	w.line("| engine | version | weights | how |")
	w.line("|---|---|---|---|")
	for _, name := range p.names() {
		e := p.Engines[name]
		w.line("| %s | %s | %s | %s |", name, e.Version, e.Weights, e.How)
	}
}

// names are the engines that were measured, those kept from AMX after the others.
func (p *peersFile) names() []string {
	var names []string
	for _, suffix := range []string{"", withoutAMX} {
		for _, engine := range engines {
			if _, measured := p.Engines[engine+suffix]; measured {
				names = append(names, engine+suffix)
			}
		}
	}
	return names
}

// writeWorkload tells of one workload, engine by engine, and what has failed.
func (p *peersFile) writeWorkload(w *writer, workload string) {
	what := p.Workloads[workload]
	w.line("### %s", workload)
	w.line("")
	w.line("Requests: %d, tokens of prompts: %d, generated: %d. Tokens generated per second:", what.Requests, what.Prompt, what.Generated)
	w.line("")
	w.line("![%s](performance/%s.svg)", workload, workload)
	w.line("")
	w.line("| engine | median | least to most | rounds | cbactor's, on the same weights |")
	w.line("|---|---|---|---|---|")
	for _, engine := range p.names() {
		values, failed := p.values(engine, workload)
		told := "| - | - |"
		if len(values) > 0 {
			told = fmt.Sprintf("| %.1f | %.1f to %.1f |", median(values), slices.Min(values), slices.Max(values))
		}
		rounds := fmt.Sprint(len(values))
		if failed > 0 {
			rounds += fmt.Sprintf(", and %d failed", failed)
		}
		ratio := "-"
		if r := p.ratio(engine, workload); r > 0 {
			ratio = fmt.Sprintf("%.2fx", r)
		}
		w.line("| %s %s %s | %s |", engine, told, rounds, ratio)
	}
	p.writeFailures(w, workload)
	w.line("")
}

// writeFailures says why runs have failed, each cause once.
func (p *peersFile) writeFailures(w *writer, workload string) {
	told := map[string]bool{}
	for _, r := range p.Runs {
		cause := fmt.Sprintf("%s failed: %s", r.Engine, strings.TrimSpace(r.Error))
		if r.Workload == workload && r.Error != "" && !told[cause] {
			told[cause] = true
			w.line("\n%s", cause)
		}
	}
}
