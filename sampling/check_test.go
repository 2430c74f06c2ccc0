package sampling

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestCheckNumbers(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		field     string
		set       func(p *Params, v float32)
		good, bad []float32
	}{
		{"temperature", func(p *Params, v float32) { p.Temperature = v }, []float32{0, 1e-10, 2}, []float32{-0.1, 2.1}},
		{"top_p", func(p *Params, v float32) { p.TopP = v }, []float32{0, 1e-10, 1}, []float32{-0.1, 1.1}},
		{"min_p", func(p *Params, v float32) { p.MinP = v }, []float32{0, 1e-10, 1}, []float32{-0.1, 1.1}},
		{"typical_p", func(p *Params, v float32) { p.TypicalP = v }, []float32{0, 1e-10, 1}, []float32{-0.1, 1.1}},
		{"repetition_penalty", func(p *Params, v float32) { p.RepetitionPenalty = v }, []float32{0, 0.1, 1, 10}, []float32{-1, 0.05, 10.1}},
		{"presence_penalty", func(p *Params, v float32) { p.PresencePenalty = v }, []float32{-2, 0, 2}, []float32{-2.1, 2.1}},
		{"frequency_penalty", func(p *Params, v float32) { p.FrequencyPenalty = v }, []float32{-2, 0, 2}, []float32{-2.1, 2.1}},
		{"logit_bias", func(p *Params, v float32) { p.Bias = []Bias{{3, v}} }, []float32{-100, 0, 100}, []float32{-101, 101}},
		{"top_k", func(p *Params, v float32) { p.TopK = int32(v) }, []float32{0, 1 << 30}, []float32{-1}},
		{"no_repeat_ngram_size", func(p *Params, v float32) { p.NoRepeatNgram = int32(v) }, []float32{0, 1, 128}, []float32{-1, 129}},
		{"min_new_tokens", func(p *Params, v float32) { p.MinNew = int32(v) }, []float32{0, 1 << 30}, []float32{-1}},
		{"top_logprobs", func(p *Params, v float32) { p.Tell = Tell{Logprobs: true, Top: int32(v)} }, []float32{0, 50}, []float32{-1, 51}},
	} {
		if !slices.Contains([]string{"top_k", "no_repeat_ngram_size", "min_new_tokens", "top_logprobs"}, c.field) {
			c.bad = append(c.bad, nan, inf, -inf)
		}
		for _, v := range c.good {
			var p Params
			if c.set(&p, v); p.Check() != nil {
				t.Errorf("%s %v: %v", c.field, v, p.Check())
			}
		}
		for _, v := range c.bad {
			var p Params
			c.set(&p, v)
			checkRefused(t, p.Check(), c.field)
		}
	}
}

func checkRefused(t *testing.T, err error, field string) {
	t.Helper()
	var e *ParamError
	if !errors.Is(err, ErrParams) || !errors.As(err, &e) || e.Field != field || !strings.Contains(err.Error(), field) {
		t.Errorf("%v, want a ParamError that names %s", err, field)
	}
}

func biases(n int) []Bias {
	b := make([]Bias, n)
	for i := range b {
		b[i].ID = int32(i)
	}
	return b
}

func TestCheckLists(t *testing.T) {
	words := func(n int) [][]int32 { return slices.Repeat([][]int32{{1, 2}}, n) }
	for _, c := range []struct {
		name  string
		p     Params
		field string // "" when good
	}{
		{"zero", Params{}, ""},
		{"biases", Params{Bias: biases(300)}, ""},
		{"too many biases", Params{Bias: biases(301)}, "logit_bias"},
		{"an id twice", Params{Bias: []Bias{{1, 1}, {2, 1}, {1, 1}}}, "logit_bias"},
		{"bad words", Params{BadWords: words(1000)}, ""},
		{"too many bad words", Params{BadWords: words(1001)}, "bad_words"},
		{"an empty bad word", Params{BadWords: [][]int32{{1}, {}}}, "bad_words"},
		{"a long bad word", Params{BadWords: [][]int32{make([]int32, 256)}}, ""},
		{"too long a bad word", Params{BadWords: [][]int32{make([]int32, 257)}}, "bad_words"},
		{"ends", Params{Ends: make([]int32, 1024)}, ""},
		{"too many ends", Params{Ends: make([]int32, 1025)}, "ends"},
		{"top of prompts", Params{Tell: Tell{Prompt: true, Top: 3}}, ""},
		{"top of nothing", Params{Tell: Tell{Kept: true, Top: 3}}, "top_logprobs"},
		{"allowed is an end", Params{Allowed: []int32{2, 3}, Ends: []int32{3, 2}}, ""},
		{"allowed is banned at first", Params{Allowed: []int32{2, 3}, Ends: []int32{3, 2}, MinNew: 1}, "allowed_ids"},
		{"allowed is a bad word", Params{Allowed: []int32{2}, BadWords: [][]int32{{1}, {2}}}, "allowed_ids"},
		{"allowed is banned by both", Params{Allowed: []int32{2, 3}, BadWords: [][]int32{{2}}, Ends: []int32{3}, MinNew: 2}, "allowed_ids"},
		{"allowed ends a bad word", Params{Allowed: []int32{2}, BadWords: [][]int32{{1, 2}}}, ""},
		{"one is left", Params{Allowed: []int32{2, 3}, Ends: []int32{3}, MinNew: 1}, ""},
	} {
		if err := c.p.Check(); c.field != "" {
			checkRefused(t, err, c.field)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCheckVocab(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     Params
		field string // "" when good
	}{
		{"last ids", Params{Bias: []Bias{{9, 1}}, BadWords: [][]int32{{9, 9}}, Ends: []int32{9}, Allowed: []int32{9}}, ""},
		{"ranges too", Params{TopP: 2}, "top_p"},
		{"bias", Params{Bias: []Bias{{10, 1}}}, "logit_bias"},
		{"negative bias id", Params{Bias: []Bias{{-1, 1}}}, "logit_bias"},
		{"bad word", Params{BadWords: [][]int32{{1}, {10, 2}}}, "bad_words"},
		{"negative bad word", Params{BadWords: [][]int32{{1, -2}}}, "bad_words"},
		{"end", Params{Ends: []int32{3, 10}}, "ends"},
		{"an end that no token is", Params{Ends: []int32{-1}, MinNew: 3}, ""},
		{"allowed", Params{Allowed: []int32{10}}, "allowed_ids"},
		{"negative allowed", Params{Allowed: []int32{-1}}, "allowed_ids"},
		{"allowed too often", Params{Allowed: make([]int32, 11)}, "allowed_ids"},
		{"all banned", Params{BadWords: [][]int32{{0}, {1}, {2}, {3}, {4}, {5}, {6}}, Ends: []int32{9, 8, 7, -1}, MinNew: 1}, "bad_words"},
		{"all but one", Params{BadWords: [][]int32{{0}, {1}, {2}, {3}, {4}, {5}, {5}}, Ends: []int32{9, 8, 7}, MinNew: 1}, ""},
	} {
		if err := c.p.CheckVocab(10); c.field != "" {
			checkRefused(t, err, c.field)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
