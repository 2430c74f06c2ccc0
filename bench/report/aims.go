package main

import (
	"fmt"
	"math"
)

// aim is how many times a peer's tokens per second cbactor is to have, on the same weights.
type aim struct {
	workload, peer string
	ratio          float64
}

// aims are the project's.
var aims = []aim{
	{"single", "openvino", 3}, {"decode", "openvino", 1.9}, {"mixed", "openvino", 1.9}, {"shared", "openvino", 10},
	{"single", "llama.cpp", 3}, {"decode", "llama.cpp", 7},
	{"single", "vllm", 2.5}, {"decode", "vllm", 2.5}, {"mixed", "vllm", 2.5}, {"shared", "vllm", 2.5},
	{"single", "transformers", 3}, {"decode", "transformers", 3}, {"mixed", "transformers", 3}, {"shared", "transformers", 3},
}

// writeAims tells of each whether it is reached, by the ratio of medians.
func (p *peersFile) writeAims(w *writer) {
	w.line("| workload | against | aim | ratio | | kept from AMX | |")
	w.line("|---|---|---|---|---|---|---|")
	for _, a := range aims {
		with, without := p.outcome(a, a.peer), p.outcome(a, a.peer+withoutAMX)
		w.line("| %s | %s | %.2gx | %s | %s |", a.workload, a.peer, a.ratio, with, without)
	}
}

// outcome is what came of an aim, against an engine: its ratio and a word, as two cells.
func (p *peersFile) outcome(a aim, engine string) string {
	ratio := p.ratio(engine, a.workload)
	if !(ratio > 0) {
		return "- | "
	}
	return a.verdict(ratio)
}

// verdict tells a ratio and whether it reaches the aim. One that falls short is told with as
// many digits as show it: 2.996 is not 3.00.
func (a aim) verdict(ratio float64) string {
	if ratio >= a.ratio {
		return fmt.Sprintf("%.2fx | reached", ratio)
	}
	digits := 2
	for scale := 100.0; math.Round(ratio*scale) >= math.Round(a.ratio*scale); scale *= 10 {
		digits++
	}
	return fmt.Sprintf("%.*fx | **missed**", digits, ratio)
}
