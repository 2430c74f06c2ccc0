package executor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// The values were computed by the formula in another language.
func TestEchoScore(t *testing.T) {
	for _, c := range []struct {
		ids     []int32
		vocab   int
		epoch   uint32
		windows []int
		want    float32
	}{
		{[]int32{1, 2, 3, 4}, 50021, 1, nil, -83570.34375},
		{[]int32{1, 2, 40}, 50021, 1, nil, -32.03125},
		{[]int32{96, 3, 5}, 97, 7, []int{0, 2}, -20.125},
		{[]int32{3, 3, 30000}, 50021, 2, []int{1}, -42155.15625},
	} {
		if got := executor.EchoScore(c.ids, c.vocab, c.epoch, c.windows...); got != c.want {
			t.Errorf("EchoScore(%v, vocabulary %d, epoch %d, windows %v) = %v, want %v", c.ids, c.vocab, c.epoch, c.windows, got, c.want)
		}
	}
}

// told runs prompt in two chunks with params and answers what is told of the prompt,
// and of the token.
func (e *echoRun) told(params sampling.Params) (scores []sampling.Drawn, drawn sampling.Drawn) {
	e.t.Helper()
	a, first, last := admit(0, prompt...), row(0, 0, 2, false), row(0, 2, 3, true)
	a.Sampling = params
	first.PromptLogprobs, last.PromptLogprobs = true, true
	for _, b := range []executor.Batch{
		{Admit: []executor.Admit{a}, Tables: []executor.Table{table(0, 0, 1)}, Rows: []executor.Row{first}},
		{Rows: []executor.Row{last}, Retire: []executor.Slot{0}},
	} {
		if err := errors.Join(e.do(b), e.result.Rows[0].Err); err != nil {
			e.t.Fatal(err)
		}
		for _, d := range e.result.Rows[0].Prompt { // the Result is used again
			d.Top = slices.Clone(d.Top)
			scores = append(scores, d)
		}
	}
	if r := &e.result.Rows[0]; len(r.Drawn) != 1 || r.Drawn[0].ID != r.Tokens[0] || len(scores) != len(prompt)-1 {
		e.t.Fatalf("told are %+v and %v", r.Drawn, scores)
	}
	return scores, e.result.Rows[0].Drawn[0]
}

// What is told is EchoScore's, whatever draws: also of the most likely ids, which do
// not depend on who draws.
func TestEchoTells(t *testing.T) {
	next := executor.EchoRef(prompt, 1, 50021, 1)[0]
	tell := sampling.Tell{Logprobs: true, Top: 2, Kept: true, Prompt: true}
	for _, c := range []struct {
		name   string
		params sampling.Params
		id     int32 // -1: any
		kept   int
	}{
		{"greedy", sampling.Params{}, next, 1},
		{"random", sampling.Params{Temperature: 1}, -1, 50021},
		{"allowed", sampling.Params{Allowed: []int32{7, 900}}, 900, 1},
		{"bias", sampling.Params{Bias: []sampling.Bias{{ID: next, Value: -50}}}, next + 1, 1},
		{"random of allowed", sampling.Params{Allowed: []int32{7}, Temperature: 1}, 7, 1},
		{"never an end", sampling.Params{MinNew: 1, Ends: []int32{next, next + 1}}, next + 2, 1},
	} {
		c.params.Tell = tell
		scores, drawn := newEchoRun(t).told(c.params)
		if c.id >= 0 && drawn.ID != c.id || int(drawn.KeptCount) != c.kept || c.kept <= sampling.MaxKept && len(drawn.Kept) != c.kept {
			t.Errorf("%s: token %d of %d (%d), want %d of %d", c.name, drawn.ID, len(drawn.Kept), drawn.KeptCount, c.id, c.kept)
		}
		for _, d := range append(slices.Clone(drawn.Top), drawn.Logprob) {
			if want := executor.EchoScore(append(slices.Clone(prompt), d.ID), 50021, 1); d.Raw != want {
				t.Errorf("%s: %+v, want %v", c.name, d, want)
			}
		}
		if top := drawn.Top; len(top) != 2 || top[0].ID != next || top[1].ID != next+1 {
			t.Errorf("%s: most likely are %v, want %d and %d", c.name, top, next, next+1)
		}
		for i, d := range scores {
			if want := executor.EchoScore(prompt[:i+2], 50021, 1); d.ID != prompt[i+1] || d.Raw != want || len(d.Top) != 2 {
				t.Errorf("%s: id %d of the prompt: %+v, want %d with %v", c.name, i+1, d, prompt[i+1], want)
			}
		}
	}
}
