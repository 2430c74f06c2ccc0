package suite

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// testInUse wants to drop what a step names, and names what is not loaded.
func testInUse(t *testing.T, newExecutor Make, newSet NewSet) {
	d, ex := loader(t, newExecutor, withSets)
	second := newSet(2)
	step := func(epoch uint32) error { return ex.Start(&executor.Batch{Step: d.step + 1, Epoch: epoch}) }
	refused(t, "a step of a set to come", step(2), executor.ErrContract)
	must(t, ex.Load(t.Context(), second))
	refused(t, "a set again", ex.Load(t.Context(), second), executor.ErrContract)
	refused(t, "drop of what is not there", ex.Drop(3), executor.ErrContract)

	d.start(d.newPlan())
	refused(t, "drop of what a step names", ex.Drop(1), executor.ErrContract)
	must(t, ex.Drop(2))
	d.finish()
	refused(t, "a step of a set that is gone", step(2), executor.ErrContract)
	d.start(d.newPlan())
	d.finish()
	must(t, ex.Drop(1))
	refused(t, "drop again", ex.Drop(1), executor.ErrContract)
	refused(t, "a step of no set", step(1), executor.ErrContract)
}

// fill loads sets until there is no place and gives the epoch of the last one.
func fill(t *testing.T, ex executor.Loader, newSet NewSet) (last uint32) {
	t.Helper()
	for last = 1; ; last++ {
		err := ex.Load(t.Context(), newSet(last+1))
		if errors.Is(err, executor.ErrFull) {
			return last
		}
		must(t, err)
	}
}

// testFull takes all places: a set more finds none, but one in the memory of another.
func testFull(t *testing.T, newExecutor Make, newSet NewSet) {
	d, ex := loader(t, newExecutor, withSets)
	requests := prompts(d.info, 5, 9)
	last := fill(t, ex, newSet)
	if last < 2 {
		t.Fatalf("%d sets fit, asked for were 2", last)
	}
	must(t, ex.Drop(last))
	shared := newSet(last)
	must(t, ex.Load(t.Context(), shared))
	again := *shared // as a way back gives it
	again.Epoch = last + 1
	want := lone(t, newExecutor, &again, requests)
	must(t, ex.Load(t.Context(), &again))
	refused(t, "one more", ex.Load(t.Context(), newSet(last+2)), executor.ErrFull)
	must(t, ex.Drop(last))
	refused(t, "while one that it shares memory with stays", ex.Load(t.Context(), newSet(last+2)), executor.ErrFull)
	d.epoch = again.Epoch
	same(t, "in the memory of another", tokens(t, d.run(requests, alone)), want)
}

// testOneSet exchanges sets where memory holds one, again and again.
func testOneSet(t *testing.T, newExecutor Make, newSet NewSet) {
	o := small
	o.Sets = 1
	d, ex := loader(t, newExecutor, o)
	requests := prompts(d.info, 5, 9)
	last := fill(t, ex, newSet)
	for epoch := uint32(1); epoch <= last; epoch++ {
		must(t, ex.Drop(epoch))
	}
	for epoch := last + 1; epoch < last+4; epoch++ {
		must(t, ex.Load(t.Context(), newSet(epoch)))
		d.epoch = epoch
		same(t, "in a place that others had", tokens(t, d.run(requests, alone)), lone(t, newExecutor, newSet(epoch), requests))
		must(t, ex.Drop(epoch))
	}
}

// testSetsClosed loads and drops after Close.
func testSetsClosed(t *testing.T, newExecutor Make, newSet NewSet) {
	_, ex := loader(t, newExecutor, withSets)
	must(t, ex.Close())
	refused(t, "Load after Close", ex.Load(t.Context(), newSet(2)), executor.ErrClosed)
	refused(t, "Drop after Close", ex.Drop(1), executor.ErrClosed)
}
