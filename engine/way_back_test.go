package engine

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// keepsFirst is an engine that serves v2 and keeps the first version, in whose memory are
// so many sets as they are stored.
func keepsFirst(t *testing.T, places, stored int) *Engine {
	t.Helper()
	e := spawnTiny(t, Config{Threads: 1, WeightSets: places, NumBlocks: 64})
	e.updates.Limit = stored*e.maker.weights.Bytes() + 1<<16
	newTrained(t, 1).update(t, e, "v2", KVKeep)
	return e
}

// What an update drops for its memory is named. Where memory holds all, the way back is
// there until another version serves, whatever becomes of updates meanwhile.
func TestWhatAnUpdateDrops(t *testing.T) {
	for places := 1; places <= 2; places++ {
		e := keepsFirst(t, places, 2)
		if u := newTrained(t, 2).begin(t, e, "v3", KVKeep); u.Dropped() != FirstVersion || e.Kept() != "" {
			t.Errorf("dropped is %q, kept %q", u.Dropped(), e.Kept())
		}
		e = keepsFirst(t, places, 3)
		first := greedy(t, spawnTiny(t, Config{Threads: 1, NumBlocks: 64}), text(9), 5).TokenIDs
		for _, abort := range []bool{true, false} {
			u := newTrained(t, 2).begin(t, e, "v3", KVKeep)
			if u.Dropped() != "" {
				t.Errorf("%q is dropped", u.Dropped())
			}
			if !abort {
				s := e.session.Load()
				able := s.ex
				s.ex = unable{able.(executor.Loader)}
				if err := errors.Join(newTrained(t, 2).send(u), u.Commit(t.Context())); !errors.Is(err, errUnable) {
					t.Fatal(err)
				}
				s.ex = able
			}
			u.Abort()
			if e.Kept() != FirstVersion {
				t.Fatalf("%q is kept", e.Kept())
			}
		}
		if err := e.Rollback(t.Context(), FirstVersion, KVKeep); err != nil {
			t.Fatal(err)
		}
		if got := greedy(t, e, text(9), 5).TokenIDs; !slices.Equal(got, first) {
			t.Errorf("back: %v, want %v", got, first)
		}
		newTrained(t, 2).update(t, e, "v3", KVKeep)
		if e.Kept() != FirstVersion {
			t.Errorf("%q is kept", e.Kept())
		}
	}
}

// An update that no memory is large enough for has cost no way back.
func TestATooLargeUpdateKeepsTheWayBack(t *testing.T) {
	for places := 1; places <= 2; places++ {
		e, m := keepsFirst(t, places, 2), newTrained(t, 1).manifest
		for i := range m.Tensors {
			m.Tensors[i].DType, m.Tensors[i].Digest = "F32", weights.Digest{}
		}
		if _, err := e.Update(t.Context(), UpdateOptions{Version: "v3", Manifest: m}); !errors.Is(err, weights.ErrMemory) || e.Kept() != FirstVersion {
			t.Errorf("%v, %q is kept", err, e.Kept())
		}
		if err := e.Rollback(t.Context(), FirstVersion, KVKeep); err != nil {
			t.Error(err)
		}
	}
}
