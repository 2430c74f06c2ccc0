package executor_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// A fork has its parent's adapter: it samples from its parent's logits.
func TestCheckForkedAdapters(t *testing.T) {
	for _, c := range []struct {
		parent, child string
		want          error
	}{{"a", "a", nil}, {"", "", nil}, {"a", "", executor.ErrContract}, {"", "a", executor.ErrContract}, {"a", "b", executor.ErrContract}} {
		check := executor.NewChecker(executor.Info{PageSize: 4, Groups: []executor.Group{{Blocks: 4}, {Blocks: 4}}, MaxSlots: 2, MaxTokens: 8, MaxContext: 8, Vocab: 9, MaxOutstanding: 1, MaxAdapters: 2}, 1)
		if err := errors.Join(check.LoadAdapter("a"), check.LoadAdapter("b")); err != nil {
			t.Fatal(err)
		}
		parent, child := admit(0, 1, 2), admit(1, 1, 2)
		child.Parent, parent.Adapter, child.Adapter = 0, c.parent, c.child
		err := check.Check(&executor.Batch{
			Step: 1, Epoch: 1, Admit: []executor.Admit{parent, child}, Tables: append(tables(0, 0, 1), tables(1, 0, 1)...),
			Rows: []executor.Row{row(1, 2, 0, true), row(0, 0, 2, true)},
		})
		if !errors.Is(err, c.want) {
			t.Errorf("parent with %q, child with %q: %v, want %v", c.parent, c.child, err, c.want)
		}
	}
}

// An adapter leaves when no slot has it and no step does that runs; a slot number that
// others use since does not count.
func TestCheckAdapterLeaves(t *testing.T) {
	check := executor.NewChecker(executor.Info{PageSize: 4, Groups: []executor.Group{{Blocks: 4}, {Blocks: 4}}, MaxSlots: 1, MaxTokens: 8, MaxContext: 8, Vocab: 9, MaxOutstanding: 2, MaxAdapters: 1}, 1)
	with, without := admit(0, 1), admit(0, 1)
	with.Adapter = "a"
	unload := func(when string, want error) {
		t.Helper()
		if err := check.UnloadAdapter("a"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", when, err, want)
		}
	}
	step := func(b executor.Batch) {
		t.Helper()
		if err := check.Check(&b); err != nil {
			t.Fatal(err)
		}
	}
	unload("before it is loaded", executor.ErrContract)
	if err := check.LoadAdapter("a"); err != nil {
		t.Fatal(err)
	}
	if err := check.LoadAdapter("b"); !errors.Is(err, executor.ErrAdapters) {
		t.Errorf("one too many: %v", err)
	}
	step(executor.Batch{Step: 1, Epoch: 1, Admit: []executor.Admit{with}})
	check.Done(1)
	unload("in an open slot", executor.ErrContract)
	step(executor.Batch{Step: 2, Epoch: 1, Retire: []executor.Slot{0}})
	unload("in a step that runs", executor.ErrContract)
	check.Done(2)
	step(executor.Batch{Step: 3, Epoch: 1, Admit: []executor.Admit{without}})
	unload("when the slot is another's", nil)
	unload("twice", executor.ErrContract)
}
