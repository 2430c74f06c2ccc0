package suite

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// before is how many tokens crossing has of the first set.
const before = 3

// crossing runs requests together that begin with the first set and end with another,
// which steps that are handed over at once may name in turn. between is called before
// the first step of the other one, nil: it is loaded at the beginning.
func crossing(d *driver, epoch uint32, requests []request, ahead int, between func()) [][]int32 {
	d.t.Helper()
	list, p := make([]*sequence, len(requests)), d.newPlan()
	for i := range requests {
		list[i] = d.admit(&p.batch, &requests[i])
	}
	for step := 1; ; step++ {
		d.addRows(p, d.info.MaxTokens)
		d.start(p)
		for len(d.flying) >= ahead || between != nil && len(d.flying) > 0 {
			d.finish()
		}
		if len(d.active) == 0 {
			break
		}
		if step == before {
			if between != nil {
				between()
			}
			d.epoch = epoch
		}
		p = d.newPlan()
	}
	for len(d.flying) > 0 {
		d.finish()
	}
	return tokens(d.t, list)
}

// testUnderWay changes sets under sequences, whose cache is then of both.
func testUnderWay(t *testing.T, newExecutor Make, newSet NewSet) {
	run := func(requests []request, ahead int) [][]int32 {
		d, ex := loader(t, newExecutor, withSets)
		must(t, ex.Load(t.Context(), newSet(2)))
		return crossing(d, 2, requests, ahead, nil)
	}
	d, _ := loader(t, newExecutor, withSets)
	requests := prompts(d.info, 5, 9, 14)
	first, want := tokens(t, d.run(requests, alone)), run(requests, 1)
	changed := false
	for i := range want {
		if !slices.Equal(want[i][:before], first[i][:before]) {
			t.Errorf("request %d begins with %v, want what the first set gives: %v", i, want[i], first[i])
		}
		changed = changed || !slices.Equal(want[i], first[i])
		same(t, fmt.Sprintf("request %d alone", i), run(requests[i:i+1], 1), want[i:i+1])
	}
	if !changed {
		t.Error("the second set changes nothing: nothing is shown")
	}
	same(t, "handed over ahead", run(requests, d.info.MaxOutstanding), want)
}

// testSetsAsleep replaces the set while weights sleep: sequences go on over their cache.
func testSetsAsleep(t *testing.T, newExecutor Make, newSet NewSet) {
	d, ex := loader(t, newExecutor, withSets)
	requests := prompts(d.info, 5, 9, 14)
	must(t, ex.Load(t.Context(), newSet(2)))
	want := crossing(d, 2, requests, 1, nil)

	d, ex = loader(t, newExecutor, small)
	sleeper, ok := ex.(executor.Sleeper)
	if !ok {
		t.Skip("this executor does not sleep")
	}
	var second *weights.Set
	got := crossing(d, 2, requests, 1, func() {
		must(t, sleeper.Sleep(false, true))
		must(t, ex.Drop(1))
		second = newSet(2)
		must(t, ex.Load(t.Context(), second))
		refused(t, "a step while weights sleep", ex.Start(&executor.Batch{Step: d.step + 1, Epoch: 2}), executor.ErrContract)
		must(t, sleeper.Wake())
	})
	same(t, "replaced asleep", got, want)
	refused(t, "the second again", ex.Load(t.Context(), second), executor.ErrContract)
}
