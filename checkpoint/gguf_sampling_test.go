package checkpoint

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

// What a GGUF file recommends of sampling is what generation_config.json would, whatever the
// type of a number.
func TestGGUFSampling(t *testing.T) {
	for name, test := range map[string]struct {
		meta  map[string]any // without general.sampling.
		want  string
		other string
	}{
		"nothing":            {nil, `{}`, ""},
		"all":                {map[string]any{"temp": 0.5, "top_k": int64(20), "top_p": 0.75, "min_p": 0.125, "penalty_repeat": 1.25}, `{"do_sample":true,"temperature":0.5,"top_p":0.75,"top_k":20,"min_p":0.125,"repetition_penalty":1.25}`, ""},
		"greedy":             {map[string]any{"temp": 0.0, "top_k": int64(20)}, `{"do_sample":false,"temperature":0,"top_k":20}`, ""},
		"without a heat":     {map[string]any{"top_p": 0.5}, `{"do_sample":true,"top_p":0.5}`, ""},
		"a penalty alone":    {map[string]any{"penalty_repeat": 1.5}, `{"repetition_penalty":1.5}`, ""},
		"of the last":        {map[string]any{"penalty_repeat": 1.5, "penalty_last_n": int64(64)}, `{"repetition_penalty":1.5}`, "general.sampling.penalty_last_n"},
		"of all":             {map[string]any{"penalty_repeat": 1.5, "penalty_last_n": int64(-1)}, `{"repetition_penalty":1.5}`, ""},
		"of none":            {map[string]any{"penalty_repeat": 1.5, "penalty_last_n": int64(0)}, `{}`, ""},
		"no penalty":         {map[string]any{"penalty_repeat": 1.0, "penalty_last_n": int64(64)}, `{"repetition_penalty":1}`, ""},
		"whole heat, huge k": {map[string]any{"temp": uint64(1), "top_k": uint64(math.MaxUint64)}, `{"do_sample":true,"temperature":1,"top_k":2147483647}`, ""},
		"what nobody has":    {map[string]any{"mirostat": int64(2), "mirostat_tau": 5.0, "xtc_probability": 0.5, "xtc_threshold": 0.1, "sequence": "top_k;temperature"}, `{}`, "general.sampling.mirostat general.sampling.xtc_probability general.sampling.sequence"},
		"what is off":        {map[string]any{"mirostat": int64(0), "mirostat_tau": 5.0, "xtc_probability": 0.0, "xtc_threshold": 0.1, "sequence": ""}, `{}`, ""},
	} {
		f := &ggufFields{meta: ggufMeta{}}
		for key, v := range test.meta {
			f.meta[ggufSampling+key] = v
		}
		g := f.readSampling()
		js, err := json.Marshal(g)
		if err != nil || f.err != nil || string(js) != test.want || strings.Join(g.Other, " ") != test.other {
			t.Errorf("%s: got %s and %v, want %s and %s, errors %v, %v", name, js, g.Other, test.want, test.other, err, f.err)
		}
	}
	for name, v := range map[string]any{"a text": "0.5", "no number": math.NaN(), "without end": math.Inf(1), "a list": &ggufList{}, "a bool": true} {
		f := &ggufFields{meta: ggufMeta{ggufSampling + "temp": v}}
		if f.readSampling(); !errors.Is(f.err, ErrFormat) || !strings.Contains(f.err.Error(), "general.sampling.temp") {
			t.Errorf("%s: got %v", name, f.err)
		}
	}
}
