package main

import (
	"fmt"
	"io"
)

// table writes a report for people.
func (r *report) table(w io.Writer) {
	p := &r.Peaks
	fmt.Fprintf(w, "%s, compute capability %s, CUDA %s: copies %.2f TB/s of %.1f, products %.0f TFLOP/s of %.0f\n",
		r.Device.Name, r.Device.Capability, r.Device.CUDA, p.CopyTBs, p.NominalTBs, p.GemmTFLOPs, p.NominalFLOPs)
	for i := range r.Shapes {
		r.Shapes[i].table(w)
	}
}

func (s *shapeReport) table(w io.Writer) {
	fmt.Fprintf(w, "\n%s (as %s), context %d, prefill %.0f tokens/s\n", s.Shape, s.Like, s.Context, s.Prefill)
	fmt.Fprintf(w, "  %-12s %7s %10s %12s %12s\n", "kernel", "tokens", "us", "bandwidth", "tensor cores")
	for _, k := range s.Kernels {
		fmt.Fprintf(w, "  %-12s %7d %10.1f %11.0f%% %11.0f%%\n", k.Kernel, k.Tokens, k.Micros, 100*k.OfNominal, 100*k.OfNominalF)
	}
	fmt.Fprintf(w, "  %-12s %7s %10s %10s %10s %10s %7s %10s\n", "decoding", "seqs", "tokens/s", "step us", "busy us", "gap us", "busy", "bandwidth")
	for _, d := range s.Steps {
		how := "eager"
		if d.Graphs {
			how = "graphs"
		}
		fmt.Fprintf(w, "  %-12s %7d %10.0f %10.1f %10.1f %10.1f %6.1f%% %9.0f%%\n", how, d.Sequences, d.TokensS, d.StepUs, d.BusyUs, d.GapUs, 100*d.BusyShare, 100*d.OfNominal)
	}
	fmt.Fprintf(w, "  %-12s %7s %10s %10s %12s %10s %10s\n", "engine", "reqs", "tokens/s", "whole", "first ms", "pause ms", "at most")
	for _, e := range s.Engine {
		fmt.Fprintf(w, "  %-12s %7d %10.0f %10.0f %12.1f %10.2f %10.2f\n", "", e.Requests, e.TokensS, e.WholeS, e.FirstMs, e.PauseMs, e.PauseMostMs)
	}
}
