package main

import (
	"errors"
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
		if err != nil || r.Sampling != c.want || r.MaxNewTokens != 256 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestBadRecommendation(t *testing.T) {
	yes, hot, minus := true, 5.0, -3
	for _, g := range []checkpoint.Generation{{DoSample: &yes, Temperature: &hot}, {DoSample: &yes, TopK: &minus}} {
		if _, err := recommended(g); !errors.Is(err, sampling.ErrParams) {
			t.Errorf("%+v: %v", g, err)
		}
	}
}

func TestLineOverDefaults(t *testing.T) {
	m := maker{model: &loaded{}}
	m.defaults.MaxNewTokens, m.defaults.Sampling = 10, sampling.Params{Temperature: 1, TopP: 0.5}
	n, temperature, k, seed, yes := 3, 0.25, int32(4), uint64(9), true
	line := requests.Request{ID: "a", Prompt: requests.Prompt{IDs: []int32{1}}, MaxNewTokens: &n, Temperature: &temperature, TopK: &k, Seed: &seed, IgnoreEOS: &yes}
	r := m.job(line.ID, line.Prompt, &line).request
	if r.ID != "a" || r.MaxNewTokens != 3 || r.Sampling != (sampling.Params{Temperature: 0.25, TopK: 4, TopP: 0.5}) || *r.Seed != 9 || !r.IgnoreEOS {
		t.Errorf("request %+v", r)
	}
	if plain := m.job("b", line.Prompt, nil).request; plain.MaxNewTokens != 10 || plain.Seed != nil || plain.IgnoreEOS {
		t.Errorf("the defaults have become %+v", plain)
	}
}
