package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/sched"
)

// number is a flag with bounds.
type number struct {
	name, usage string
	whole       *int     // what it sets,
	real        *float64 // or this
	fallback    float64
	low, top    float64
	zero        bool // 0 is taken, too
}

// numbers are those flags of `cbactor sim`. The bounds keep sums of times finite.
func (f *simFlags) numbers() []number {
	s, c, costs := &f.shape, &f.config, &f.costs
	return []number{
		{name: "count", usage: "requests of the random load", whole: &s.Count, fallback: 1000, low: 1, top: 10_000_000},
		{name: "rate", usage: "arrivals a virtual second; 0: all at once", real: &s.Rate, low: 1e-3, top: 1e9, zero: true},
		{name: "shared", usage: "share of the requests that begin with one of eight texts", real: &s.Shared, fallback: 0.5, top: 1},
		{name: "num-blocks", usage: "cache blocks", whole: &c.Blocks, fallback: 4096, low: 1, top: 1 << 24},
		{name: "page-size", usage: "tokens of a block", whole: &c.PageSize, fallback: 32, low: 1, top: 4096},
		{name: "host-blocks", usage: "blocks of the host pool, which an engine has of its --cpu-offload-space", whole: &c.Host, top: 1 << 24},
		{name: "max-batch-tokens", usage: "tokens of a step", whole: &c.MaxTokens, fallback: 512, low: 1, top: 1 << 16},
		{name: "max-requests-per-batch", usage: "requests that run at a time", whole: &c.MaxSlots, fallback: 512, low: 1, top: 1 << 16},
		{name: "safety-margin", usage: "share of the blocks that a new request leaves free; with prefill_first 0 unless given", real: &c.Margin, fallback: 0.15, top: 1},
		{name: "step-cost", usage: "virtual seconds of a step", real: &costs.Step, fallback: 2e-3, low: 1e-9, top: 1000},
		{name: "token-cost", usage: "virtual seconds of a token", real: &costs.Token, fallback: 2e-4, top: 1000},
		{name: "read-cost", usage: "virtual seconds of a cache position read", real: &costs.Read, fallback: 2e-7, top: 1000},
		{name: "copy-cost", usage: "virtual seconds of a block copied", real: &costs.Copy, fallback: 1e-4, top: 1000},
	}
}

// add defines the flag.
func (n number) add(fs *pflag.FlagSet) {
	bounds := n.bounds()
	if n.zero {
		bounds = "0 or " + bounds
	}
	usage := n.usage + " (" + bounds + ")"
	if n.whole != nil {
		fs.IntVar(n.whole, n.name, int(n.fallback), usage)
	} else {
		fs.Float64Var(n.real, n.name, n.fallback, usage)
	}
	if err := fs.SetAnnotation(n.name, wantedNote, []string{n.want()}); err != nil {
		panic(err) // the flag is there
	}
}

// check refuses a value that is out of bounds.
func (n number) check() error {
	v, text := 0.0, ""
	if n.whole != nil {
		v, text = float64(*n.whole), strconv.Itoa(*n.whole)
	} else {
		v, text = *n.real, strconv.FormatFloat(*n.real, 'g', -1, 64)
	}
	if v >= n.low && v <= n.top || n.zero && v == 0 { // NaN is neither
		return nil
	}
	return badUsage("--%s is %s: must be %s", n.name, text, n.want())
}

// want is what the flag takes, in words.
func (n number) want() string {
	kind := "a number from "
	if n.whole != nil {
		kind = "a whole number from "
	}
	if n.zero {
		return "0 or " + kind + n.bounds()
	}
	return kind + n.bounds()
}

func (n number) bounds() string {
	text := func(v float64) string {
		if n.whole != nil {
			return strconv.Itoa(int(v))
		}
		return fmt.Sprint(v)
	}
	return text(n.low) + " to " + text(n.top)
}

func policyNames() []string { return slices.Sorted(maps.Keys(sched.Policies)) }
