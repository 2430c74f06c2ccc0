package sched

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

func TestBrokenProtocolIsRefused(t *testing.T) {
	var tokens Tokens
	for name, event := range map[string]func(*Scheduler) error{
		"no tokens":       func(s *Scheduler) error { return s.Submit(Submit{Key: 2, MaxNew: 1}) },
		"no room":         func(s *Scheduler) error { return s.Submit(Submit{Key: 2, IDs: []int32{1}, MaxNew: -1}) },
		"two of nothing":  func(s *Scheduler) error { return s.Submit(Submit{Key: 2, N: 2, IDs: []int32{1}}) },
		"negative number": func(s *Scheduler) error { return s.Submit(Submit{Key: 2, N: -1, IDs: []int32{1}, MaxNew: 1}) },
		"key in use":      func(s *Scheduler) error { return s.Submit(Submit{Key: 1, IDs: []int32{1}, MaxNew: 1}) },
		"answer to the wrong step": func(s *Scheduler) error {
			_, err := s.Reserved(&blockmgr.Reserved{Step: 2})
			return err
		},
		"answer twice": func(s *Scheduler) error {
			if _, err := s.Reserved(&blockmgr.Reserved{Step: 1, Free: 8}); err != nil {
				return nil
			}
			_, err := s.Reserved(&blockmgr.Reserved{Step: 1, Free: 8})
			return err
		},
		"result of no step": func(s *Scheduler) error { return s.StepDone(&executor.Result{Step: 1}, &tokens) },
		"result of another step": func(s *Scheduler) error {
			startOne(t, s)
			return s.StepDone(&executor.Result{Step: 2}, &tokens)
		},
		"result with a row too few": func(s *Scheduler) error {
			startOne(t, s)
			return s.StepDone(&executor.Result{Step: 1}, &tokens)
		},
	} {
		if err := event(askedForOne(t)); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A step that fails as a whole ends everything: its error comes back as it was.
func TestFailedStepIsReported(t *testing.T) {
	s := askedForOne(t)
	startOne(t, s)
	var tokens Tokens
	if err := s.StepDone(&executor.Result{Step: 1, Err: executor.ErrUnsupported}, &tokens); !errors.Is(err, executor.ErrUnsupported) {
		t.Error(err)
	}
}

// A long queue costs a plan no more than its head: at most maxOffers are offered.
func TestOffersAreBounded(t *testing.T) {
	s := New(Config{MaxTokens: 4096, MaxSlots: 4096, PageSize: 16, Blocks: 4096, Depth: 1})
	for k := range Key(3 * maxOffers) {
		if err := s.Submit(Submit{Key: 1 + k, IDs: []int32{1, 2, 3}, MaxNew: 1}); err != nil {
			t.Fatal(err)
		}
	}
	s.Resume()
	if n := len(s.Plan().Candidates); n != maxOffers {
		t.Errorf("%d are offered, want %d", n, maxOffers)
	}
}

// Victims are listed only when blocks may run short, and never the oldest: a step of
// many decoding sequences names none while there is room.
func TestVictimsAreNamedWhenBlocksAreShort(t *testing.T) {
	for blocks, want := range map[int]int{4: 0, 2: 1} {
		s := New(Config{MaxTokens: 8, MaxSlots: 2, PageSize: 2, Blocks: blocks, Depth: 1})
		m := blockmgr.New(blockmgr.Config{PageSize: 2, Blocks: []int{blocks}, Slots: 2})
		for k := range Key(2) {
			if err := s.Submit(Submit{Key: 1 + k, IDs: []int32{1}, MaxNew: 3}); err != nil {
				t.Fatal(err)
			}
		}
		s.Resume()
		var out blockmgr.Reserved
		var tokens Tokens
		var r *blockmgr.Reserve
		for range 2 { // the prompt, and a token that fills the block
			r = s.Plan()
			if err := m.Reserve(r, &out); err != nil {
				t.Fatal(err)
			}
			b, err := s.Reserved(&out)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.StepDone(resultOf(b), &tokens); err != nil {
				t.Fatal(err)
			}
		}
		if r = s.Plan(); len(r.Candidates) != 2 || len(r.Victims) != want {
			t.Errorf("%d blocks: %d candidates and %d victims, want 2 and %d", blocks, len(r.Candidates), len(r.Victims), want)
		}
	}
}

// askedForOne is a scheduler with request 1, whose first plan is asked for.
func askedForOne(t *testing.T) *Scheduler {
	t.Helper()
	s := New(Config{MaxTokens: 8, MaxSlots: 2, PageSize: 4, Blocks: 8, Depth: 1})
	if err := s.Submit(Submit{Key: 1, IDs: []int32{1, 2, 3}, MaxNew: 2}); err != nil {
		t.Fatal(err)
	}
	s.Resume()
	if s.Plan() == nil {
		t.Fatal("nothing is asked")
	}
	return s
}

// startOne answers it.
func startOne(t *testing.T, s *Scheduler) {
	t.Helper()
	out := blockmgr.Reserved{Step: 1, Free: 7, Grants: []blockmgr.Grant{{Slot: 0, Count: 3, New: []blockmgr.Added{{Blocks: []int32{0}}}}}}
	if b, err := s.Reserved(&out); err != nil || b == nil {
		t.Fatal(b, err)
	}
}

// resultOf is the result of a batch whose every row brings token 7.
func resultOf(b *executor.Batch) *executor.Result {
	res := &executor.Result{Step: b.Step}
	for _, row := range b.Rows {
		r := res.Add(row.Slot)
		r.Tokens = append(r.Tokens, 7)
	}
	return res
}

// Tokens that are given to intake stay what they are while the sequence grows.
func TestTokensAreSnapshots(t *testing.T) {
	s := resumedSim(t, simConfig{page: 4, blocks: 16, slots: 4, tokens: 16, depth: 1})
	s.submit(1, prompt(5, 1), 6)
	s.answerReserve()
	s.finishStep()
	first := s.tokens
	s.tokens = Tokens{}
	before := slices.Clone(first.Items[0].IDs)
	s.drain()
	if !slices.Equal(first.Items[0].IDs, before) {
		t.Errorf("the first message has %v, had %v", first.Items[0].IDs, before)
	}
}
