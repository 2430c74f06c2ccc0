package engine

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// A request that ends in its prompt tells whose cache it had so far, whatever ends it.
func TestCacheOfRequestsWithoutATokenIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		end func(t *testing.T, e *Engine, g *gated, id string) // lets the step through, too
		why FinishReason
	}{
		"cancel": {func(t *testing.T, e *Engine, g *gated, id string) {
			e.Cancel(id)
			until(t, "it has ended", func() bool { return e.requests.find(id) == nil })
			g.open <- struct{}{}
		}, FinishCancelled},
		"pause": {func(t *testing.T, e *Engine, g *gated, _ string) {
			go func() {
				until(t, "a pause", func() bool { return e.Status().Holders > 0 })
				g.open <- struct{}{}
			}()
			release(t, pause(t, e, PauseOptions{Mode: PauseAbort}))
		}, FinishAborted},
		"new weights": {func(t *testing.T, e *Engine, g *gated, _ string) {
			if err := <-g.changed(t, e, secondVersion, KVKeep); err != nil {
				t.Error(err)
			}
		}, FinishAborted},
	} {
		t.Run(name, func(t *testing.T) {
			e, g := spawnGated(t, Config{Threads: 1, PageSize: 8, MaxBatchTokens: 8, WeightSets: 2, UseAsyncBatching: new(false)}, nil)
			newTrained(t, 1).update(t, e, secondVersion, KVKeep)
			changeTo(t, e, FirstVersion)
			g.left.Store(4)
			s := mustAdd(t, e, Request{PromptIDs: salted(80, 1), MaxNewTokens: 5, KV: KVAbort})
			<-g.reached
			c.end(t, e, g, s.ID())
			out := s.Wait(t.Context())
			n := 0
			if len(out.KVVersions) > 0 {
				n = out.KVVersions[0].End
			}
			if out.FinishReason != c.why || !slices.Equal(out.KVVersions, []VersionSpan{{FirstVersion, 0, n}}) || n < 24 || n > 72 || n%8 != 0 {
				t.Errorf("ended %s with a cache of %v", out.FinishReason, out.KVVersions)
			}
		})
	}
}

// One that ends before any step of its own has no cache to tell of.
func TestNoCacheIsToldOfWhatNeverRan(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 8}, Config{})
	h := pause(t, e, PauseOptions{})
	s := mustAdd(t, e, Request{PromptIDs: ids(20, 1), MaxNewTokens: 5})
	e.Cancel(s.ID())
	if out := s.Wait(t.Context()); out.FinishReason != FinishCancelled || out.KVVersions != nil || out.WeightVersions != nil {
		t.Errorf("ended %s by %v with a cache of %v", out.FinishReason, out.WeightVersions, out.KVVersions)
	}
	release(t, h)
}
