package cpuexec

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// told asks for everything.
var told = sampling.Tell{Logprobs: true, Top: 5, Kept: true, Prompt: true}

// TestPromptScores compares the log-probabilities of a prompt with the textbook's, and,
// to the bit, those of every chunk size, instruction set, number of threads and
// company with one another. The prompt passes the head in more than one part.
func TestPromptScores(t *testing.T) {
	m, set, ids := textbook(t)
	var want *sequence
	for _, name := range kernelNames() {
		for _, c := range []struct{ threads, chunk, slots, others int }{{1, 128, 1, 0}, {2, 128, 1, 0}, {1, 1, 1, 0}, {2, 7, 9, 8}, {3, 65, 3, 2}} {
			cfg := Config{Model: &m.Config, Weights: set, Threads: c.threads, Kernels: name, PageSize: 9, MaxSlots: c.slots, MaxTokens: 128, MaxContext: 128}
			d := newDriver(t, cfg, c.chunk, true)
			d.e.step.alone = 0
			s := &sequence{ids: slices.Clone(ids), limit: 3, sampling: sampling.Params{Temperature: 1, TopK: 7, Tell: told}}
			d.run(append(randomSequences(&m.Config, c.others, 20, 4), s)...)
			if want == nil {
				want = s
				checkScores(t, m, s)
			}
			if what := fmt.Sprintf("%s, %+v", name, c); !reflect.DeepEqual(s.scores, want.scores) || !reflect.DeepEqual(s.drawn, want.drawn) {
				t.Errorf("%s: told are %v and %v, want %v and %v", what, s.scores, s.drawn, want.scores, want.drawn)
			}
		}
	}
}

// textbook is a small model with random weights, and a prompt.
func textbook(t *testing.T) (*synthetic, *weights.Set, []int32) {
	t.Helper()
	m := newSynthetic(odd)
	set, err := weights.Load(&m.Config, m, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int32, 100)
	for i := range ids {
		ids[i] = int32(i * 7 % m.Vocab)
	}
	return m, set, ids
}

// checkScores holds a tenth of the prompt's log-probabilities against the textbook's.
func checkScores(t *testing.T, m *synthetic, s *sequence) {
	t.Helper()
	if len(s.scores) != s.prompt-1 {
		t.Fatalf("%d ids of the prompt have a log-probability, want %d", len(s.scores), s.prompt-1)
	}
	for i := 0; i < len(s.scores); i += 10 {
		logits := m.logits(s.ids[:i+1])
		most, sum := slices.Max(logits), 0.0
		for _, x := range logits {
			sum += math.Exp(x - most)
		}
		got, want := s.scores[i], logits[s.ids[i+1]]-most-math.Log(sum)
		if got.ID != s.ids[i+1] || !(math.Abs(float64(got.Raw)-want) < 2e-4) {
			t.Errorf("id %d of the prompt: %+v, want %d with %v", i+1, got.Logprob, s.ids[i+1], want)
		}
	}
}

// TestToldAllocatesNothing runs, again and again, a prompt that is scored and its
// fork, both told of all that there is: Results and their records are used again.
func TestToldAllocatesNothing(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	e := start(t, Config{Model: m, Weights: set, Threads: 2, MaxContext: 64, MaxSlots: 2})
	e.step.alone = 0
	params := sampling.Params{Temperature: 1, TopK: 20, RepetitionPenalty: 1.5, Tell: told}
	ids := []int32{5, 6, 7, 8, 9}
	b := executor.Batch{Epoch: 1, Admit: []executor.Admit{
		{Slot: 0, IDs: ids, PromptLen: 5, Sampling: params, Parent: executor.NoSlot},
		{Slot: 1, IDs: ids, PromptLen: 5, Sampling: params, Child: 1, Parent: 0},
	}, Tables: []executor.Table{{Slot: 0, Blocks: []int32{0}}, {Slot: 1, Blocks: []int32{0}}}, Rows: []executor.Row{
		{Slot: 1, Start: 5, Sample: true, Mask: -1},
		{Slot: 0, Count: 5, Sample: true, Mask: -1, PromptLogprobs: true},
	}, Retire: []executor.Slot{0, 1}}
	var r executor.Result
	steps := func(n int) {
		for range n {
			b.Step++
			if err := errors.Join(e.Start(&b), e.Finish(&r), r.Err); err != nil {
				t.Fatal(err)
			}
			if len(r.Rows[0].Drawn) != 1 || len(r.Rows[1].Drawn) != 1 || len(r.Rows[1].Prompt) != 4 || len(r.Rows[1].Prompt[3].Top) != 5 {
				t.Fatalf("told are %+v", r.Rows)
			}
		}
	}
	if got := allocations(t, 100, steps); got > 0 {
		t.Errorf("%d allocations in 100 steps", got)
	}
}

// TestBadScores scores a prompt whose logits are not usable, in the first of its two
// chunks: all later rows of it fail, and those of a fork, but nothing else does.
func TestBadScores(t *testing.T) {
	m, set := loadPoisoned(t)
	e := start(t, Config{Model: m, Weights: set, Threads: 2, MaxContext: 64, MaxSlots: 3})
	admit := func(slot, parent executor.Slot, ids ...int32) executor.Admit {
		return executor.Admit{Slot: slot, IDs: ids, PromptLen: int32(len(ids)), Parent: parent}
	}
	table := func(slot executor.Slot, block int32) executor.Table {
		return executor.Table{Slot: slot, Blocks: []int32{block}}
	}
	row := func(slot executor.Slot, start, count int32, sample bool) executor.Row {
		return executor.Row{Slot: slot, Start: start, Count: count, Sample: sample, Mask: -1, PromptLogprobs: count > 0}
	}
	bad := []int32{5, poison, 6, 7}
	for i, b := range []executor.Batch{
		{Admit: []executor.Admit{admit(0, executor.NoSlot, bad...), admit(2, executor.NoSlot, 5, 6, 7, 8, 9)}, Tables: []executor.Table{table(0, 0), table(2, 1)},
			Rows: []executor.Row{row(0, 0, 3, false), row(2, 0, 3, false)}},
		{Admit: []executor.Admit{admit(1, 0, bad...)}, Tables: []executor.Table{table(1, 0)},
			Rows: []executor.Row{row(0, 3, 1, true), row(2, 3, 2, true), row(1, 4, 0, true)}},
		{Rows: []executor.Row{row(0, 4, 1, true), row(2, 5, 1, true), row(1, 4, 1, true)}},
	} {
		b.Step, b.Epoch = uint64(i+1), 1
		var r executor.Result
		if err := errors.Join(e.Start(&b), e.Finish(&r), r.Err); err != nil {
			t.Fatal(err)
		}
		for _, got := range r.Rows {
			if failed := errors.Is(got.Err, sampling.ErrLogits); failed != (got.Slot != 2) || failed && len(got.Tokens)+len(got.Prompt) > 0 {
				t.Errorf("step %d: slot %d has %v", b.Step, got.Slot, got)
			}
		}
		if scores := []int{3, 1, 0}[i]; len(r.Rows[1].Prompt) != scores {
			t.Errorf("step %d: %d of the good prompt are scored, want %d", b.Step, len(r.Rows[1].Prompt), scores)
		}
	}
}
