package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/weights"
)

// spawnWithAdapter is an engine of the adapters' model with one of them, and a gate.
func spawnWithAdapter(t *testing.T, set *weights.Set) (*Engine, *gated) {
	t.Helper()
	e, err := Spawn(t.Context(), Config{Checkpoint: openLlama(t), MaxAdapters: 1, WeightSets: 2, Threads: 1, UseAsyncBatching: new(false), Trace: new(serving)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	g := e.gate(t, set)
	if err := e.LoadAdapter(t.Context(), "a", peft("patterns")); err != nil {
		t.Fatal(err)
	}
	return e, g
}

// The weights below an adapter change at any step of a request that has it, and of one
// beside it that has none: each goes on as a new engine with the new weights does, the
// first one with the adapter.
func TestWeightsChangeBelowAnAdapter(t *testing.T) {
	first, _ := spawnWithAdapter(t, nil)
	e, g := spawnWithAdapter(t, nil)
	negate(t, e, secondVersion)
	second, _ := spawnWithAdapter(t, e.maker.weights)
	changeTo(t, e, FirstVersion)
	const n = 16
	request := func(adapter string, begin []int32) Request {
		return Request{PromptIDs: slices.Concat([]int32{5, 6, 7}, begin), MaxNewTokens: n - len(begin), Adapter: adapter, IgnoreEOS: true}
	}
	for step := int64(2); step < n; step += 3 {
		for _, kv := range []KVPolicy{KVKeep, KVRecompute} {
			h := pause(t, e, PauseOptions{})
			open := map[string]*Stream{}
			for _, adapter := range []string{"", "a"} {
				open[adapter] = mustAdd(t, e, request(adapter, nil))
			}
			g.left.Store(step)
			release(t, h)
			<-g.reached
			done := g.changed(t, e, secondVersion, kv)
			for adapter, s := range open {
				out, err := followed(t.Context(), s)
				if err != nil || out.FinishReason != FinishLength || len(out.WeightVersions) != 2 {
					t.Fatalf("adapter %q: ended %s by %v: %v", adapter, out.FinishReason, out.WeightVersions, err)
				}
				old := out.TokenIDs[:out.WeightVersions[0].End]
				if want := generateOne(t, first, request(adapter, nil)).TokenIDs; !slices.Equal(old, want[:len(old)]) {
					t.Errorf("adapter %q: %v by the first version, want %v", adapter, old, want)
				}
				if want := generateOne(t, second, request(adapter, old)).TokenIDs; kv == KVRecompute && !slices.Equal(out.TokenIDs[len(old):], want) {
					t.Errorf("adapter %q: %v behind %d tokens, want %v", adapter, out.TokenIDs[len(old):], len(old), want)
				}
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			changeTo(t, e, FirstVersion)
		}
	}
	with, without := generateOne(t, second, request("a", nil)), generateOne(t, second, request("", nil))
	if fmt.Sprint(with.TokenIDs) == fmt.Sprint(without.TokenIDs) {
		t.Error("the adapter adds nothing: the test shows nothing")
	}
}
