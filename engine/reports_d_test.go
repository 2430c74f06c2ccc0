package engine

import (
	"slices"
	"testing"
)

// Field report D1: the cache of other weights is never found, be they older or, on the
// way back, newer ones; that of the same is. Every answer is what new weights alone give.
func TestReportD1NoCacheOfOtherWeights(t *testing.T) {
	w := newSwaps(t)
	e, _ := spawnGated(t, Config{Threads: 1, PageSize: swapPage, WeightSets: 2}, nil)
	q := Request{PromptIDs: salted(64, 1), MaxNewTokens: 4}
	for i, version := range []string{FirstVersion, secondVersion, FirstVersion, secondVersion} {
		switch i {
		case 0:
		case 1:
			w.second.update(t, e, version, KVKeep)
		default:
			changeTo(t, e, version)
		}
		for _, cached := range []int{0, 64 - swapPage} {
			out := mustAdd(t, e, seeded(q)).Wait(t.Context())
			if out.Usage.CachedTokens != cached || !slices.Equal(out.TokenIDs, w.rest(t, version, q, 0, nil)) {
				t.Errorf("change %d, by %s: found %d tokens, want %d, and brings %v", i, version, out.Usage.CachedTokens, cached, out.TokenIDs)
			}
		}
	}
}

// Field report D1, host pool: pages that older weights have filled do not come back to
// one that is computed again.
func TestReportD1HostPagesOfOlderWeightsAreUnusable(t *testing.T) {
	w := newSwaps(t)
	cfg, requests := sized(Config{Threads: 1, PageSize: swapPage, WeightSets: 2, CPUOffloadSpace: 0.01, MaxContext: 120, UseAsyncBatching: new(false)}, true, both)
	e, g := spawnGated(t, cfg, nil)
	w.second.update(t, e, secondVersion, KVKeep)
	changeTo(t, e, FirstVersion)
	r := swapRun{w, e, g, requests, KVRecompute}
	before := g.started.Load()
	r.judge(t, 0, <-r.together(t))
	changeTo(t, e, secondVersion)
	changeTo(t, e, FirstVersion) // of another epoch: nothing is found in the cache
	if g.firstOut.Load() == 0 {
		t.Fatal("nobody is given up to the host: the test shows nothing")
	}
	g.left.Store(g.firstOut.Load() - before) // the step that does it
	ended := r.together(t)
	<-g.reached
	if g.toHost.Swap(0) <= g.fromHost.Swap(0) {
		t.Fatal("nothing is in the host pool: the test shows nothing")
	}
	done := g.changed(t, e, secondVersion, KVRecompute)
	r.judge(t, 0, <-ended)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if out, in := g.toHost.Load(), g.fromHost.Load(); in > out {
		t.Errorf("%d blocks went to the host pool since, %d came back", out, in)
	}
}

// Field report D2: in a pause with some running and some waiting, the cache is emptied
// and the weights are updated; each stream has all its tokens, the first as they were,
// the rest as the new weights go on.
func TestReportD2InAPauseWithAnEmptyCache(t *testing.T) {
	w := newSwaps(t)
	e, g := spawnGated(t, Config{Threads: 1, PageSize: swapPage, WeightSets: 2, NumBlocks: 64, MaxRequestsPerBatch: 3}, nil)
	r := swapRun{swaps: w, engine: e, gate: g, kv: KVRecompute}
	for i := range 5 {
		r.requests = append(r.requests, Request{PromptIDs: salted(64, i), MaxNewTokens: 20})
	}
	g.left.Store(6)
	ended := r.together(t)
	<-g.reached
	asked := make(chan Hold)
	go func() { asked <- pause(t, e, PauseOptions{}) }()
	until(t, "a pause", func() bool { return e.Status().Holders > 0 })
	g.open <- struct{}{}
	h := <-asked
	if err := e.Sleep(t.Context(), KV); err != nil {
		t.Fatal(err)
	}
	w.second.update(t, e, secondVersion, KVRecompute)
	if err := e.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	release(t, h)
	outs := <-ended
	r.judge(t, 6, outs)
	for i, out := range outs {
		if began := len(out.WeightVersions) == 2; began != (i < 3) {
			t.Errorf("number %d has tokens by %v", i, out.WeightVersions)
		}
	}
}
