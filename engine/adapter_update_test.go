package engine

import (
	"fmt"
	"testing"
)

// An adapter belongs to no version: it is added to those that an update brings, stays
// where weights sleep, and on the way back its users have the tokens they had before.
func TestAdaptersStayOverUpdatesAndSleep(t *testing.T) {
	for sets := range 3 { // 0: none but the one that serves
		e, err := Spawn(t.Context(), Config{Checkpoint: openLlama(t), MaxAdapters: 1, WeightSets: max(1, sets), Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if sets == 0 {
			e.updates.Limit = int(e.Info().Memory.WeightSet)
		}
		if err := e.LoadAdapter(t.Context(), "a", peft("patterns")); err != nil {
			t.Fatal(err)
		}
		outs := func() (texts [2]string) {
			for i, adapter := range []string{"", "a"} {
				r := Request{PromptIDs: []int32{5, 6, 7}, MaxNewTokens: 8, Adapter: adapter, IgnoreEOS: true}
				texts[i] = fmt.Sprint(generateOne(t, e, r).TokenIDs)
			}
			if texts[0] == texts[1] {
				t.Errorf("%d sets, %s: the adapter adds nothing", sets, e.Version())
			}
			return texts
		}
		first := outs()
		negate(t, e, "v2")
		second := outs()
		if first[0] == second[0] || first[1] == second[1] {
			t.Errorf("%d sets: %v, after an update %v", sets, first, second)
		}
		if err := e.Sleep(t.Context(), KV|Weights); err != nil {
			t.Fatal(err)
		}
		if err := e.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := outs(); again != second {
			t.Errorf("%d sets: %v, after a sleep %v", sets, second, again)
		}
		if sets == 0 {
			negate(t, e, "v3")
		} else if err := e.Rollback(t.Context(), FirstVersion, KVKeep); err != nil {
			t.Fatal(err)
		}
		if again := outs(); again != first {
			t.Errorf("%d sets: %v, on the way back %v", sets, first, again)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// negate makes a version of which a matrix has every third number with the other sign.
func negate(t *testing.T, e *Engine, version string) {
	t.Helper()
	hold, err := e.Pause(t.Context(), PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	held, err := hold.Weights(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tensor, err := held.Tensor("model.layers.0.mlp.down_proj.weight")
	if err != nil {
		t.Fatal(err)
	}
	size := tensor.DType.RowBytes(1)
	for i := size - 1; i < len(tensor.Data); i += 3 * size {
		tensor.Data[i] ^= 0x80
	}
	if err := hold.Release(version); err != nil {
		t.Fatal(err)
	}
}
