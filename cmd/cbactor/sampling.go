package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
)

// sampleFlags are the settings of requests that do not bring their own.
type sampleFlags struct {
	maxNew      int
	temperature float64
	topK        int32
	topP        float64
	ignoreEOS   bool
}

func (f *sampleFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&f.maxNew, "max-new-tokens", 256, "tokens to generate at most")
	fs.Float64Var(&f.temperature, "temperature", 0, "randomness, from 0 (greedy) to 2 (default: the model's recommendation, else greedy)")
	fs.Int32Var(&f.topK, "top-k", 0, "draw from the k most likely tokens; 0: all (default: the model's recommendation)")
	fs.Float64Var(&f.topP, "top-p", 0, "draw from the fewest tokens that have this probability together; 0 or 1: all (default: the model's recommendation)")
	fs.BoolVar(&f.ignoreEOS, "ignore-eos", false, "go on after an end-of-sequence token")
}

// wanted says in words what the flags of numbers take.
var wanted = map[string]string{
	"max-new-tokens": "a whole number from 1 up",
	"temperature":    "a number from 0 to 2",
	"top-k":          "a whole number from 0 up",
	"top-p":          "a number from 0 to 1",
}

// check refuses what no model could take.
func (f *sampleFlags) check() error {
	for _, c := range []struct {
		name  string
		ok    bool
		value any
	}{
		{"max-new-tokens", f.maxNew >= 1, f.maxNew},
		{"temperature", f.temperature >= 0 && f.temperature <= 2, f.temperature}, // NaN is neither
		{"top-k", f.topK >= 0, f.topK},
		{"top-p", f.topP >= 0 && f.topP <= 1, f.topP},
	} {
		if !c.ok {
			return badUsage("--%s is %v: must be %s", c.name, c.value, wanted[c.name])
		}
	}
	return nil
}

// defaults are the settings of a request as far as it does not say otherwise: the
// flags that were given, else what the model's authors recommend.
func (f *sampleFlags) defaults(fs *pflag.FlagSet, g checkpoint.Generation) (engine.Request, error) {
	p, err := engine.Recommended(g)
	if err != nil {
		return engine.Request{}, err
	}
	if fs.Changed("temperature") {
		p.Temperature = float32(f.temperature)
	}
	if fs.Changed("top-k") {
		p.TopK = f.topK
	}
	if fs.Changed("top-p") {
		p.TopP = float32(f.topP)
	}
	return engine.Request{MaxNewTokens: f.maxNew, Sampling: p, IgnoreEOS: f.ignoreEOS}, nil
}

// drawn says how tokens are drawn, and for what is random how to have it again.
// overridable: requests may have settings of their own.
func drawn(p sampling.Params, seed uint64, overridable bool) string {
	s := described(p)
	if overridable {
		s += " where a request says nothing else"
	}
	if p.Greedy() && !overridable {
		return s
	}
	return fmt.Sprintf("%s; --seed %d repeats it", s, seed)
}

// described are parameters in words.
func described(p sampling.Params) string {
	if p.Greedy() {
		return "greedy"
	}
	s := fmt.Sprintf("temperature %g", p.Temperature)
	if p.TopK > 0 {
		s += fmt.Sprintf(", top-k %d", p.TopK)
	}
	if p.TopP > 0 && p.TopP < 1 {
		s += fmt.Sprintf(", top-p %g", p.TopP)
	}
	return s
}

// override puts the settings that a line of a file brings over r.
func override(r *engine.Request, line requests.Request) error {
	if line.MaxNewTokens != nil {
		r.MaxNewTokens = *line.MaxNewTokens
	}
	if line.Temperature != nil {
		r.Sampling.Temperature = float32(*line.Temperature)
	}
	if line.TopK != nil {
		r.Sampling.TopK = *line.TopK
	}
	if line.TopP != nil {
		r.Sampling.TopP = float32(*line.TopP)
	}
	if line.Seed != nil {
		r.Seed = line.Seed
	}
	if line.IgnoreEOS != nil {
		r.IgnoreEOS = *line.IgnoreEOS
	}
	return r.Sampling.Check()
}
