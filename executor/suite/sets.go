package suite

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// withSets is small with a place for another weight set.
var withSets = func() Options {
	o := small
	o.Sets = 2
	return o
}()

// NewSet makes a weight set that fits the model, in memory of its own. Each epoch's
// computes something else, also than the one that Make begins with, which is epoch 1.
type NewSet func(epoch uint32) *weights.Set

// RunSets runs what an executor.Loader passes beside the rest, and of what an
// executor.Sleeper passes that which concerns weight sets.
func RunSets(t *testing.T, newExecutor Make, newSet NewSet) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Make, NewSet)
	}{
		{"beside steps", testBesideSteps},
		{"under way", testUnderWay},
		{"in use", testInUse},
		{"full", testFull},
		{"one after another", testOneSet},
		{"asleep", testSetsAsleep},
		{"closed", testSetsClosed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newExecutor, newSet) })
	}
}

// loader is an executor whose sets can be replaced.
func loader(t *testing.T, newExecutor Make, o Options) (*driver, executor.Loader) {
	t.Helper()
	ex, ok := open(t, newExecutor, o).(executor.Loader)
	if !ok {
		t.Fatal("it is no Loader")
	}
	return newDriver(t, ex), ex
}

// must fails the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused wants an error of a class.
func refused(t *testing.T, what string, err, class error) {
	t.Helper()
	if !errors.Is(err, class) {
		t.Errorf("%s: %v, want %v", what, err, class)
	}
}

// lone are the tokens of requests by an executor that has no other set.
func lone(t *testing.T, newExecutor Make, set *weights.Set, requests []request) [][]int32 {
	t.Helper()
	d, ex := loader(t, newExecutor, small)
	must(t, ex.Drop(1))
	must(t, ex.Load(t.Context(), set))
	d.epoch = set.Epoch
	return tokens(t, d.run(requests, alone))
}

// testBesideSteps loads a set with a step unfinished: those before it compute as ever,
// those that name it as an executor does that has it alone.
func testBesideSteps(t *testing.T, newExecutor Make, newSet NewSet) {
	d, ex := loader(t, newExecutor, withSets)
	requests := prompts(d.info, 5, 9, 17)
	first, second := tokens(t, d.run(requests, alone)), lone(t, newExecutor, newSet(2), requests)
	if slices.EqualFunc(first, second, slices.Equal) {
		t.Error("both sets give the same tokens: nothing is shown")
	}
	p := d.newPlan()
	s := d.admit(&p.batch, &requests[0])
	d.addRows(p, 5)
	d.start(p)
	must(t, ex.Load(t.Context(), newSet(2)))
	d.finish()
	d.run(nil, policy{chunk: 1, ahead: 1})
	same(t, "while another set is loaded", [][]int32{s.out}, first[:1])
	same(t, "of the first set, beside another", tokens(t, d.run(requests, policy{chunk: 32, together: 3, ahead: 1})), first)
	d.epoch = 2
	same(t, "of the second set", tokens(t, d.run(requests, policy{chunk: 7, together: 3, ahead: d.info.MaxOutstanding, shuffle: 1})), second)
}
