package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/internal/obs/obstest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// Floats that are sent to a model stored in 4 bits are stored as sent and computed as
// those before them, which is logged once; the way back, and a new session, compute the same.
// Over those before them they cannot be written.
func TestFloatsSentToAQuantisedModel(t *testing.T) {
	var log obstest.Journal
	e, err := Spawn(t.Context(), Config{Checkpoint: storedAs(t, "q4_1"), WeightSets: 2, Threads: 1, Log: zerolog.New(&log).Level(zerolog.WarnLevel)})
	if err != nil {
		t.Fatal(err)
	}
	w := trainedFrom(t, storedAs(t, "bf16"), 1)
	prompt := []int32{1, 50, 7, 130, 99}
	first := greedy(t, e, prompt, 8)
	if err := w.inPlace(t, e, "over", KVKeep); !errors.Is(err, weights.ErrDType) || !strings.Contains(err.Error(), "stored as Q4_1, which nothing is cast to") {
		t.Errorf("in place: %v", err)
	}
	w.update(t, e, "v2", KVKeep)
	second := greedy(t, e, prompt, 8)
	if slices.Equal(first.TokenIDs, second.TokenIDs) {
		t.Error("what was sent does not compute")
	}
	if head, _ := e.store.Current().Tensor("model.embed_tokens.weight"); head.DType != model.BF16 {
		t.Errorf("the head is stored as %s", head.DType)
	}
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := greedy(t, e, prompt, 8); !slices.Equal(again.TokenIDs, second.TokenIDs) {
		t.Errorf("a new session computes %v, before %v", again.TokenIDs, second.TokenIDs)
	}
	if err := e.Rollback(t.Context(), FirstVersion, KVKeep); err != nil {
		t.Fatal(err)
	}
	if back := greedy(t, e, prompt, 8); !slices.Equal(back.TokenIDs, first.TokenIDs) {
		t.Errorf("the first version computes %v, before %v", back.TokenIDs, first.TokenIDs)
	}
	w.update(t, e, "v3", KVKeep)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "compute is int8: 29 matrices stored as BF16 are computed in the format of what was there before"); n != 1 {
		t.Errorf("it is logged %d times: %s", n, log.String())
	}
}

// Weights that lose nothing are not told of.
func TestWeightsSentAsTheyAreComputed(t *testing.T) {
	var log obstest.Journal
	e := spawnTiny(t, Config{Threads: 1, Log: zerolog.New(&log).Level(zerolog.WarnLevel)})
	newTrained(t, 1).update(t, e, "v2", KVKeep)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if log.String() != "" {
		t.Errorf("logged: %s", log.String())
	}
}
