package main

import (
	"reflect"
	"testing"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/sampling"
)

func TestDefaultsOfAModel(t *testing.T) {
	yes, no, hot, half, seven, big := true, false, 1.5, 0.5, 7, 1<<40
	for name, c := range map[string]struct {
		model checkpoint.Generation
		args  []string
		want  sampling.Params
	}{
		"nothing said":            {checkpoint.Generation{}, nil, sampling.Params{}},
		"numbers without a wish":  {checkpoint.Generation{Temperature: &hot}, nil, sampling.Params{}},
		"greedy":                  {checkpoint.Generation{DoSample: &no, Temperature: &hot}, nil, sampling.Params{}},
		"sampling":                {checkpoint.Generation{DoSample: &yes}, nil, sampling.Params{Temperature: 1}},
		"all said":                {checkpoint.Generation{DoSample: &yes, Temperature: &hot, TopK: &seven, TopP: &half}, nil, sampling.Params{Temperature: 1.5, TopK: 7, TopP: 0.5}},
		"as many as there can be": {checkpoint.Generation{DoSample: &yes, TopK: &big}, nil, sampling.Params{Temperature: 1, TopK: 1<<31 - 1}},
		"flags over it":           {checkpoint.Generation{DoSample: &yes, Temperature: &hot, TopP: &half}, []string{"--temperature", "0", "--top-p", "1"}, sampling.Params{TopP: 1}},
		"some flags over it":      {checkpoint.Generation{DoSample: &yes, Temperature: &hot, TopP: &half}, []string{"--top-k", "3"}, sampling.Params{Temperature: 1.5, TopK: 3, TopP: 0.5}},
	} {
		var f sampleFlags
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.add(fs)
		if err := fs.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		r, err := f.defaults(fs, c.model)
		if err != nil || !reflect.DeepEqual(r.Sampling, c.want) || r.MaxNewTokens != 256 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestHowTokensAreDrawn(t *testing.T) {
	hot := sampling.Params{Temperature: 0.7, TopK: 40, TopP: 0.9}
	for _, c := range []struct {
		params      sampling.Params
		overridable bool
		want        string
	}{
		{sampling.Params{}, false, "greedy"},
		{sampling.Params{Temperature: 1, TopK: 1}, false, "greedy"},
		{sampling.Params{}, true, "greedy where a request says nothing else; --seed 9 repeats it"},
		{sampling.Params{Temperature: 1, TopP: 1}, false, "temperature 1; --seed 9 repeats it"},
		{hot, false, "temperature 0.7, top-k 40, top-p 0.9; --seed 9 repeats it"},
	} {
		if got := drawn(c.params, 9, c.overridable); got != c.want {
			t.Errorf("%+v: %q, want %q", c.params, got, c.want)
		}
	}
}

func TestLineOverDefaults(t *testing.T) {
	m := maker{model: &loaded{}}
	m.defaults.MaxNewTokens, m.defaults.Sampling = 10, sampling.Params{Temperature: 1, TopP: 0.5}
	n, temperature, k, seed, yes := 3, 0.25, int32(4), uint64(9), true
	line := requests.Request{ID: "a", Prompt: requests.Prompt{IDs: []int32{1}}, MaxNewTokens: &n, Temperature: &temperature, TopK: &k, Seed: &seed, IgnoreEOS: &yes}
	r := m.job(line.ID, line.Prompt, &line).request
	if r.ID != "a" || r.MaxNewTokens != 3 || !reflect.DeepEqual(r.Sampling, sampling.Params{Temperature: 0.25, TopK: 4, TopP: 0.5}) || *r.Seed != 9 || !r.IgnoreEOS {
		t.Errorf("request %+v", r)
	}
	if plain := m.job("b", line.Prompt, nil).request; plain.MaxNewTokens != 10 || plain.Seed != nil || plain.IgnoreEOS {
		t.Errorf("the defaults have become %+v", plain)
	}
}
