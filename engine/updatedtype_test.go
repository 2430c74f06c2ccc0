package engine

import (
	"testing"

	"github.com/cbactor/cbactor/model"
)

// Updates are stored as configured, within the memory that the plan has for them.
func TestUpdatesAreCastAsConfigured(t *testing.T) {
	w := newTrained(t, 1)
	for text, want := range stored {
		t.Run(text, func(t *testing.T) {
			e := spawnTiny(t, Config{Threads: 1, WeightSets: 2, UpdateDType: text})
			m := e.Info().Memory
			e.updates.Limit = int(m.WeightSet + m.NextSet)
			w.update(t, e, "v2", KVKeep)
			greedy(t, e, salted(5, 1), 4)
			for got := range e.store.Current().All() {
				sent, _ := w.set.Tensor(got.Name)
				if want == model.Invalid && got.DType != sent.DType || want != model.Invalid && got.DType != want {
					t.Fatalf("%s is stored as %s", got.Name, got.DType)
				}
			}
		})
	}
	t.Run("wider than what is there", func(t *testing.T) {
		narrow, wide := spawnTiny(t, Config{WeightSets: 2, UpdateDType: "bf16"}).Info().Memory, spawnTiny(t, Config{WeightSets: 2, UpdateDType: "f32"}).Info().Memory
		if wide.NextSet <= narrow.NextSet {
			t.Errorf("the next set takes %d bytes as F32, %d as BF16", wide.NextSet, narrow.NextSet)
		}
	})
}
