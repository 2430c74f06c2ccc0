package suite

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// RunSleep runs what an executor.Sleeper passes beside the rest.
func RunSleep(t *testing.T, newExecutor Make) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Make)
	}{
		{"between requests", testSleep},
		{"under way", testSleepUnderWay},
		{"refused", testSleepRefused},
		{"closed", testSleepClosed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newExecutor) })
	}
}

// sleeper is an executor that can sleep.
func sleeper(t *testing.T, newExecutor Make) (*driver, executor.Sleeper) {
	t.Helper()
	ex, ok := open(t, newExecutor, small).(executor.Sleeper)
	if !ok {
		t.Fatal("it is no Sleeper")
	}
	return newDriver(t, ex), ex
}

// testSleep sleeps in every way, twice each: no step is taken meanwhile, and none is
// other afterwards.
func testSleep(t *testing.T, newExecutor Make) {
	d, ex := sleeper(t, newExecutor)
	requests := prompts(d.info, 5, 9, 17)
	want := tokens(t, d.run(requests, alone))
	for _, c := range []struct{ kv, weights bool }{{true, false}, {false, true}, {true, true}} {
		must(t, errors.Join(ex.Sleep(c.kv, c.weights), ex.Sleep(c.kv, c.weights)))
		refused(t, "a step while it sleeps", ex.Start(&executor.Batch{Step: d.step + 1, Epoch: 1}), executor.ErrContract)
		must(t, errors.Join(ex.Wake(), ex.Wake()))
		same(t, fmt.Sprintf("after %+v slept", c), tokens(t, d.run(requests, policy{chunk: 7, together: 3, ahead: d.info.MaxOutstanding})), want)
	}
}

// testSleepUnderWay sleeps in the middle of a sequence: with weights asleep it keeps its
// cache, without it is computed again from its first token on.
func testSleepUnderWay(t *testing.T, newExecutor Make) {
	d, ex := sleeper(t, newExecutor)
	requests := prompts(d.info, 5)
	want := tokens(t, d.run(requests, alone))
	p := d.newPlan()
	s := d.admit(&p.batch, &requests[0])
	d.addRows(p, 5)
	d.start(p)
	d.finish()
	must(t, errors.Join(ex.Sleep(false, true), ex.Wake()))
	s.n = 3
	d.run(nil, policy{chunk: 1, ahead: 1})
	same(t, "over the cache that it had", [][]int32{s.out}, [][]int32{want[0][:3]})

	must(t, errors.Join(ex.Sleep(true, false), ex.Wake()))
	rest := []request{{ids: append(prompts(d.info, 5)[0].ids, s.out...), promptLen: 5, n: len(want[0]) - 3}}
	same(t, "computed again", tokens(t, d.run(rest, alone)), [][]int32{want[0][3:]})
}

// testSleepRefused does not fall asleep over a step.
func testSleepRefused(t *testing.T, newExecutor Make) {
	d, ex := sleeper(t, newExecutor)
	d.start(d.newPlan())
	refused(t, "Sleep with a step unfinished", ex.Sleep(true, true), executor.ErrContract)
	d.finish()
	d.start(d.newPlan()) // it is awake
	d.finish()
}

// testSleepClosed closes what sleeps, which wakes no more.
func testSleepClosed(t *testing.T, newExecutor Make) {
	_, ex := sleeper(t, newExecutor)
	must(t, errors.Join(ex.Sleep(true, true), ex.Close()))
	refused(t, "Wake after Close", ex.Wake(), executor.ErrClosed)
	refused(t, "Sleep after Close", ex.Sleep(true, true), executor.ErrClosed)
}
