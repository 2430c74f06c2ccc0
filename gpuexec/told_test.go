package gpuexec

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// TestScoresOfTinyModel lets the device score the golden's greedy tokens behind their prompts: the
// log-probabilities are the reference's, to within what computing in bf16 is off by.
func TestScoresOfTinyModel(t *testing.T) {
	m, set := loadModel(t, "tiny")
	cases := tinyGolden(t)
	if testing.Short() {
		cases = cases[:2]
	}
	j := &judge{t: t, e: start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxContext: 256, MaxTokens: 256, MaxSlots: 2})}
	worst, n := 0.0, 0
	for i, c := range cases {
		told := j.run(slices.Concat(c.PromptIDs, c.Greedy))[len(c.PromptIDs)-1:]
		for k, want := range c.Logprobs {
			off := math.Abs(float64(told[k].Raw) - want)
			if !(off <= tinyBound) || told[k].ID != c.Greedy[k] {
				t.Errorf("case %d: token %d, %d, has log-probability %g, want %g of %d", i, k, told[k].ID, told[k].Raw, want, c.Greedy[k])
			}
			worst, n = max(worst, off), n+1
		}
	}
	if hosted(j.e.(*Executor)) || n < 50 {
		t.Errorf("%d tokens are scored; logits came to the host: %t", n, hosted(j.e.(*Executor)))
	}
	t.Logf("golden: %d log-probabilities of tiny, by the device, differ by %.2g at most", n, worst)
}

// TestBadScores scores a prompt one of whose tokens makes logits NaN: its rows fail, those of a fork of it too,
// and nobody else's.
func TestBadScores(t *testing.T) {
	m, set := loadPoisoned(t)
	e := start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 3})
	tell := sampling.Params{Tell: sampling.Tell{Prompt: true, Logprobs: true, Top: 2}}
	admit := func(slot, parent executor.Slot, ids ...int32) executor.Admit {
		return executor.Admit{Slot: slot, IDs: ids, PromptLen: int32(len(ids)), Sampling: tell, Parent: parent}
	}
	row := func(slot executor.Slot, start, count int32, sample bool) executor.Row {
		return executor.Row{Slot: slot, Start: start, Count: count, Sample: sample, Mask: -1, PromptLogprobs: count > 0}
	}
	table := func(slot executor.Slot, block int32) executor.Table {
		return executor.Table{Slot: slot, Blocks: []int32{block}}
	}
	for i, b := range []executor.Batch{
		{
			Admit:  []executor.Admit{admit(0, executor.NoSlot, 5, poison, 6, 7), admit(2, executor.NoSlot, 5, 6, 7, 8, 9)},
			Tables: []executor.Table{table(0, 0), table(2, 1)},
			Rows:   []executor.Row{row(0, 0, 3, false), row(2, 0, 3, false)},
		},
		{
			Admit: []executor.Admit{admit(1, 0, 5, poison, 6, 7)}, Tables: []executor.Table{table(1, 0)},
			Rows: []executor.Row{row(0, 3, 1, true), row(2, 3, 2, true), row(1, 4, 0, true)},
		},
		{Rows: []executor.Row{row(0, 4, 1, true), row(2, 5, 1, true), row(1, 4, 1, true)}},
	} {
		b.Step, b.Epoch = uint64(i+1), 1
		var r executor.Result
		if err := errors.Join(e.Start(&b), e.Finish(&r), r.Err); err != nil {
			t.Fatal(err)
		}
		for _, got := range r.Rows {
			if failed := errors.Is(got.Err, sampling.ErrLogits); failed != (got.Slot != 2) || failed && len(got.Tokens)+len(got.Prompt)+len(got.Drawn) > 0 {
				t.Errorf("step %d: slot %d has %+v", b.Step, got.Slot, got)
			}
		}
		if scores := []int{3, 1, 0}[i]; len(r.Rows[1].Prompt) != scores || len(r.Rows[1].Drawn) != len(r.Rows[1].Tokens) {
			t.Errorf("step %d: of the good prompt %d are scored, want %d: %+v", b.Step, len(r.Rows[1].Prompt), scores, r.Rows[1])
		}
	}
}
