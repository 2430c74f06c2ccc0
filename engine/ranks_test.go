package engine

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

// A model that two ranks compute together gives each request the same tokens alone and in
// company, over a pause, a cancelled neighbour, updates to other weights and back, sleep, and a
// hard stop; in float32, greedy, those that one rank gives.
func TestRanks(t *testing.T) {
	w := newSwaps(t)
	cfg := Config{TensorParallelSize: 2, Threads: 2, Compute: "f32", KVDType: "f32", MaxBatchTokens: 40, MaxContext: 128, WeightSets: 2}
	e := spawnTiny(t, cfg)
	cfg.TensorParallelSize = 1
	one := spawnTiny(t, cfg)
	var requests []Request
	for i := range 6 {
		r := Request{PromptIDs: salted(7+11*i, i), MaxNewTokens: 12, IgnoreEOS: true, Seed: new(uint64(i))}
		if i%2 == 1 {
			r.Sampling = sampling.Params{Temperature: 1, TopP: 0.9}
		}
		requests = append(requests, r)
	}
	alone := func(e *Engine) (list [][]int32) {
		for _, r := range requests {
			list = append(list, generateOne(t, e, r).TokenIDs)
		}
		return list
	}
	want, single := alone(e), alone(one)
	for i := 0; i < len(want); i += 2 {
		if !slices.Equal(want[i], single[i]) {
			t.Errorf("request %d: two ranks give %v, one %v", i, want[i], single[i])
		}
	}
	together := func(what string, want [][]int32) {
		t.Helper()
		h := pause(t, e, PauseOptions{})
		var open []*Stream
		for _, r := range requests {
			open = append(open, mustAdd(t, e, r))
		}
		victim := mustAdd(t, e, Request{PromptIDs: salted(9, 99), MaxNewTokens: 90, IgnoreEOS: true})
		release(t, h)
		e.Cancel(victim.ID())
		h = pause(t, e, PauseOptions{})
		release(t, h)
		for i, s := range open {
			if out := s.Wait(t.Context()); out.Err != nil || !slices.Equal(out.TokenIDs, want[i]) {
				t.Errorf("%s, request %d: %v (%v), alone %v", what, i, out.TokenIDs, out.Err, want[i])
			}
		}
	}
	together("at first", want)
	w.second.update(t, e, secondVersion, KVKeep)
	other := alone(e)
	if slices.EqualFunc(want, other, slices.Equal) {
		t.Error("other weights give the same")
	}
	together("other weights", other)
	changeTo(t, e, FirstVersion)
	together("back again", want)
	if err := e.Sleep(t.Context(), KV|Weights); err != nil {
		t.Fatal(err)
	}
	if err := e.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	together("after sleep", want)
	if err := e.Stop(t.Context(), StopOptions{Hard: true}); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	together("after a stop", want)
}
