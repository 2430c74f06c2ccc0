package sched

import (
	"testing"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// An adapter is used while a sequence waits, while it runs, and after its end until the
// step that retires its slot is done: the executor knows it as long. Its admission and its
// place in the prefix cache say whose it is.
func TestAnAdapterIsUsedUntilItsLastSlotIsFree(t *testing.T) {
	s := New(Config{MaxTokens: 8, MaxSlots: 1, PageSize: 4, Blocks: 8, Depth: 1})
	books := blockmgr.New(blockmgr.Config{PageSize: 4, Blocks: []int{8}, Slots: 1, Chunk: 8})
	s.Resume()
	uses := func(when string, want bool) {
		t.Helper()
		if s.Uses("a") != want || s.Uses("b") || s.Uses("") {
			t.Errorf("%s: a is used: %t, want %t", when, s.Uses("a"), want)
		}
	}
	uses("at first", false)
	if err := s.Submit(Submit{Key: 1, N: 2, IDs: []int32{1, 2, 3}, MaxNew: 4, Adapter: "a", Salt: 7}); err != nil {
		t.Fatal(err)
	}
	s.Cancel(2)
	uses("while it waits", true)
	step := func() *executor.Batch {
		t.Helper()
		r := s.Plan()
		if r == nil {
			t.Fatal("nothing is planned")
		}
		for _, o := range r.Open {
			if o.Salt != 7 {
				t.Errorf("opened with salt %d", o.Salt)
			}
		}
		var answer blockmgr.Reserved
		if err := books.Reserve(r, &answer); err != nil {
			t.Fatal(err)
		}
		b, err := s.Reserved(&answer)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	done := func(b *executor.Batch) {
		t.Helper()
		res := executor.Result{Step: b.Step}
		for _, row := range b.Rows {
			out := res.Add(row.Slot)
			if row.Sample {
				out.Tokens = append(out.Tokens, 9)
			}
		}
		if err := s.StepDone(&res, new(Tokens)); err != nil {
			t.Fatal(err)
		}
	}
	first := step()
	if len(first.Admit) != 1 || first.Admit[0].Adapter != "a" {
		t.Errorf("admitted are %+v", first.Admit)
	}
	s.Cancel(1)
	uses("when it has ended with a step in flight", true)
	done(first)
	uses("before its slot is retired", true)
	last := step()
	if len(last.Retire) != 1 {
		t.Fatalf("retired are %v", last.Retire)
	}
	uses("while the step that retires it runs", true)
	done(last)
	uses("at the end", false)
}
