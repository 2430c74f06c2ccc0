package suite

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/sampling"
)

// withAdapters is small with places for the adapters of the tests.
var withAdapters = func() Options {
	o := small
	o.Adapters = 2
	return o
}()

// RunAdapters runs what an executor.Adapters passes beside the rest. newAdapter makes
// adapters that fit its model; each number's adds something else.
func RunAdapters(t *testing.T, newExecutor Make, newAdapter func(number int) *model.Adapter) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Make, func(int) *model.Adapter)
	}{
		{"mixed", testMixedAdapters},
		{"fork", testForkedAdapters},
		{"life", testAdapterLife},
		{"asleep", testAdaptersAsleep},
		{"refused", testRefusedAdapters},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newExecutor, newAdapter) })
	}
}

// adapted is an executor with the adapters a and b.
func adapted(t *testing.T, newExecutor Make, newAdapter func(int) *model.Adapter) (*driver, executor.Adapters) {
	t.Helper()
	ex, ok := open(t, newExecutor, withAdapters).(executor.Adapters)
	if !ok || ex.Info().MaxAdapters < 2 {
		t.Fatalf("it is no Adapters, or has less than 2 places: %+v", ex)
	}
	for i, name := range []string{"a", "b"} {
		must(t, ex.LoadAdapter(name, newAdapter(i)))
	}
	return newDriver(t, ex), ex
}

// testMixedAdapters runs requests with the adapters a and b, and with none, in many
// ways: each gets what it gets alone, and adapters change something.
func testMixedAdapters(t *testing.T, newExecutor Make, newAdapter func(int) *model.Adapter) {
	d, _ := adapted(t, newExecutor, newAdapter)
	plain := mixed(d.info)
	requests := slices.Clone(plain)
	for i := range requests {
		requests[i].adapter = []string{"a", "", "b"}[i%3]
	}
	want := tokens(t, d.run(requests, alone))
	for _, p := range []policy{
		{chunk: 1, together: 1, ahead: 1},
		{chunk: 3, together: 6, ahead: 1, shuffle: 1},
		{chunk: 7, together: 4, ahead: d.info.MaxOutstanding},
		{chunk: 32, together: 6, ahead: d.info.MaxOutstanding, shuffle: 2},
	} {
		same(t, fmt.Sprintf("%+v", p), tokens(t, d.run(requests, p)), want)
	}
	without := tokens(t, d.run(plain, alone))
	for i := range 3 {
		changed := false
		for j := i; j < len(want); j += 3 {
			changed = changed || !slices.Equal(want[j], without[j])
		}
		if changed != (requests[i].adapter != "") {
			t.Errorf("adapter %q: tokens differ from those without: %t", requests[i].adapter, changed)
		}
	}
	same(t, "without, where nothing was ever loaded", generate(t, newExecutor, plain, alone), without)
}

// testForkedAdapters forks a request with an adapter.
func testForkedAdapters(t *testing.T, newExecutor Make, newAdapter func(int) *model.Adapter) {
	d, _ := adapted(t, newExecutor, newAdapter)
	requests := make([]request, 3)
	for i := range requests {
		requests[i] = prompts(d.info, 6)[0]
		requests[i].sampling, requests[i].child, requests[i].adapter = sampling.Params{Temperature: 2}, int32(i), "b"
	}
	want := tokens(t, d.run(requests, alone))
	same(t, "forked", forkAll(d, requests), want)
}

// testAdapterLife unloads adapters and loads others in their places, while a sequence
// with one that stays is decoding.
func testAdapterLife(t *testing.T, newExecutor Make, newAdapter func(int) *model.Adapter) {
	d, ex := adapted(t, newExecutor, newAdapter)
	requests := prompts(d.info, 5, 9)
	requests[0].adapter, requests[1].adapter = "a", "b"
	want := tokens(t, d.run(requests, alone))

	p := d.newPlan()
	s := d.admit(&p.batch, &requests[0])
	d.addRows(p, 5)
	d.start(p)
	for i := range 4 {
		before, now := "b", fmt.Sprint("b", i)
		if i > 0 {
			before = fmt.Sprint("b", i-1)
		}
		must(t, ex.UnloadAdapter(before))
		must(t, ex.LoadAdapter(now, newAdapter(1+i%2)))
	}
	d.finish()
	d.run(nil, policy{chunk: 1, ahead: 1})
	same(t, "beside adapters that come and go", [][]int32{s.out}, want[:1])
	must(t, ex.UnloadAdapter("b3"))
	must(t, ex.LoadAdapter("again", newAdapter(1)))
	requests[1].adapter = "again"
	fresh, other := adapted(t, newExecutor, newAdapter)
	must(t, other.UnloadAdapter("a"))
	must(t, other.LoadAdapter("again", newAdapter(1)))
	same(t, "in a place that others had", tokens(t, d.run(requests[1:], alone)), tokens(t, fresh.run(requests[1:], alone)))
}

// testAdaptersAsleep sleeps with adapters, which stay in their places.
func testAdaptersAsleep(t *testing.T, newExecutor Make, newAdapter func(int) *model.Adapter) {
	d, ex := adapted(t, newExecutor, newAdapter)
	sleeper, ok := ex.(executor.Sleeper)
	if !ok {
		t.Skip("this executor does not sleep")
	}
	requests := prompts(d.info, 5, 9)
	requests[0].adapter, requests[1].adapter = "a", "b"
	want := tokens(t, d.run(requests, alone))
	must(t, errors.Join(sleeper.Sleep(true, true), sleeper.Wake()))
	same(t, "after a sleep", tokens(t, d.run(requests, alone)), want)
}

// testRefusedAdapters asks for what may not be.
func testRefusedAdapters(t *testing.T, newExecutor Make, newAdapter func(int) *model.Adapter) {
	d, ex := adapted(t, newExecutor, newAdapter)
	requests := prompts(d.info, 5)
	requests[0].adapter = "a"
	refused(t, "no part", ex.LoadAdapter("c", new(model.Adapter)), model.ErrAdapter)
	refused(t, "name in use", ex.LoadAdapter("a", newAdapter(0)), executor.ErrContract)
	refused(t, "no name", ex.LoadAdapter("", newAdapter(0)), executor.ErrContract)
	refused(t, "unload of nothing", ex.UnloadAdapter("c"), executor.ErrContract)
	for n := 2; ; n++ {
		if err := ex.LoadAdapter(fmt.Sprint(n), newAdapter(0)); err != nil {
			refused(t, "one too many", err, executor.ErrAdapters)
			break
		}
	}
	b := executor.Batch{Step: 1, Epoch: 1, Admit: []executor.Admit{{IDs: []int32{1}, PromptLen: 1, Adapter: "c", Parent: executor.NoSlot}}}
	refused(t, "unknown adapter", ex.Start(&b), executor.ErrContract)

	p := d.newPlan()
	d.admit(&p.batch, &requests[0])
	d.addRows(p, 5)
	d.start(p)
	refused(t, "of an open slot", ex.UnloadAdapter("a"), executor.ErrContract)
	d.finish()
	d.active[0].n = 2
	last := d.newPlan()
	d.addRows(last, 1)
	d.start(last)
	refused(t, "of an unfinished step", ex.UnloadAdapter("a"), executor.ErrContract)
	d.finish()
	if err := ex.UnloadAdapter("a"); err != nil {
		t.Errorf("of nobody: %v", err)
	}
}
