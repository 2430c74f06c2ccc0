package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// failing is an executor whose memory is full at times.
type failing struct {
	executor.Loader
	loads, wakes int // that fail from now on
}

var errFull = errors.New("no memory")

func (f *failing) Load(ctx context.Context, set *weights.Set) error {
	err := f.Loader.Load(ctx, set)
	if err == nil && f.loads > 0 { // there is a place
		f.loads--
		return errors.Join(errFull, f.Drop(set.Epoch))
	}
	return err
}

// Sleep implements executor.Sleeper.
func (f *failing) Sleep(kv, weights bool) error {
	return f.Loader.(executor.Sleeper).Sleep(kv, weights)
}

// Wake implements executor.Sleeper.
func (f *failing) Wake() error {
	if f.wakes--; f.wakes >= 0 {
		return errFull
	}
	return f.Loader.(executor.Sleeper).Wake()
}

// spawnFailing is an engine of the tiny model with memory for one set, over one that fails.
func spawnFailing(t *testing.T) (*Engine, *failing) {
	t.Helper()
	e := spawnTiny(t, Config{Threads: 1, WeightSets: 1, NumBlocks: 64})
	if err := e.Stop(t.Context(), StopOptions{Hard: true}); err != nil {
		t.Fatal(err)
	}
	ex, err := e.maker.next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := &failing{Loader: ex.(executor.Loader)}
	e.begin(f, e.session.Load())
	return e, f
}

// commit sends a set and commits it.
func (w *trained) commit(t *testing.T, e *Engine, version string) error {
	t.Helper()
	u := w.begin(t, e, version, KVKeep)
	defer u.Abort()
	return errors.Join(w.send(u), u.Commit(t.Context()))
}

// A set that could not compute leaves what served as it was, also for who fails next.
func TestOneFailureAfterAnother(t *testing.T) {
	e, f := spawnFailing(t)
	w, want := newTrained(t, 1), greedy(t, e, text(9), 5)
	serves := func(version string, want Output) {
		t.Helper()
		if got := greedy(t, e, text(9), 5); !slices.Equal(got.TokenIDs, want.TokenIDs) || got.WeightVersions[0].Version != version || e.Version() != version {
			t.Errorf("%v of %v, %q serves; want %v of %q", got.TokenIDs, got.WeightVersions, e.Version(), want.TokenIDs, version)
		}
	}
	for _, version := range []string{"v2", "v3"} {
		f.loads = 1
		if err := w.commit(t, e, version); !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		times := 0
		if err := e.UpdateInPlace(t.Context(), UpdateOptions{Version: "v4", Manifest: w.manifest}, func(put weights.Put) error {
			if times++; times > 1 {
				return weights.ErrPanicked
			}
			return w.sender(func(int) {})(put)
		}); !errors.Is(err, weights.ErrPanicked) || errors.Is(err, ErrBroken) {
			t.Fatal(err)
		}
		serves(FirstVersion, want)
	}
	if err := w.commit(t, e, "v2"); err != nil { // a name that never served
		t.Fatal(err)
	}
	second := greedy(t, e, text(9), 5)
	f.loads = 1
	if err := e.Rollback(t.Context(), FirstVersion, KVKeep); !errors.Is(err, errFull) || e.Kept() != FirstVersion {
		t.Fatalf("%v, %q is kept", err, e.Kept())
	}
	serves("v2", second)
	if err := e.Rollback(t.Context(), FirstVersion, KVKeep); err != nil {
		t.Fatal(err)
	}
	serves(FirstVersion, want)
}

// An executor without any set is woken only with what serves.
func TestAnExecutorWithoutASetSleepsOn(t *testing.T) {
	e, f := spawnFailing(t)
	want := greedy(t, e, text(9), 5)
	f.loads = 2
	if err := newTrained(t, 1).commit(t, e, "v2"); !errors.Is(err, errFull) || errors.Is(err, ErrCommitted) || e.Status().Mode != "sleeping" {
		t.Fatalf("%v, it is %+v", err, e.Status())
	}
	open := mustAdd(t, e, Request{PromptIDs: text(9), MaxNewTokens: 5, IgnoreEOS: true})
	f.loads = 1
	if err := e.Wake(t.Context()); !errors.Is(err, errFull) || e.Status().Mode != "sleeping" {
		t.Fatalf("%v, it is %+v", err, e.Status())
	}
	if err := e.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := open.Wait(t.Context()); !slices.Equal(got.TokenIDs, want.TokenIDs) {
		t.Errorf("%v, want %v: %v", got.TokenIDs, want.TokenIDs, got.Err)
	}
	if err := e.Stop(t.Context(), StopOptions{Keep: true}); err != nil {
		t.Fatal(err)
	}
	f.loads = 2
	if err := newTrained(t, 1).commit(t, e, "v2"); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	f.loads = 1
	if err := e.Start(t.Context()); !errors.Is(err, errFull) || e.Running() {
		t.Fatalf("it runs: %t, %v", e.Running(), err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := greedy(t, e, text(9), 5); !slices.Equal(got.TokenIDs, want.TokenIDs) {
		t.Errorf("another session: %v, want %v", got.TokenIDs, want.TokenIDs)
	}
}

// What is committed while there is no memory to wake up is said to be so.
func TestCommittedAndAsleep(t *testing.T) {
	e, f := spawnFailing(t)
	w := newTrained(t, 1)
	for version, change := range map[string]func(version string) error{
		"v2": func(version string) error { return w.commit(t, e, version) },
		"v3": func(version string) error { return w.inPlace(t, e, version, KVKeep) },
	} {
		f.wakes = 1
		if err := change(version); !errors.Is(err, ErrCommitted) || !errors.Is(err, errFull) || e.Version() != version || e.Status().Mode != "sleeping" {
			t.Fatalf("%s: %v, %q serves, it is %+v", version, err, e.Version(), e.Status())
		}
		if err := e.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := greedy(t, e, text(9), 5); got.WeightVersions[0].Version != version {
			t.Errorf("tokens of %v", got.WeightVersions)
		}
	}
	h := pause(t, e, PauseOptions{})
	held, err := h.Weights(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	norm, err := held.Tensor("model.norm.weight")
	if err != nil {
		t.Fatal(err)
	}
	norm.Data[1] ^= 0x80
	f.wakes = 1
	if err := h.Release("v4"); !errors.Is(err, ErrCommitted) || e.Version() != "v4" {
		t.Errorf("%v, %q serves", err, e.Version())
	}
}
