package engine

import (
	"context"
	"errors"
	"testing"
	"time"
)

// impatient lets nobody wait long for those who change the weights.
func impatient(t *testing.T) {
	before := patience
	patience = 20 * time.Millisecond
	t.Cleanup(func() { patience = before })
}

// Who changes weights that a step computes with waits for it as long as its context
// lasts: then the version before serves on.
func TestAChangeEndsWithItsContext(t *testing.T) {
	w := newTrained(t, 1)
	for name, change := range map[string]func(ctx context.Context, e *Engine) error{
		"in place": func(ctx context.Context, e *Engine) error {
			return e.UpdateInPlace(ctx, UpdateOptions{Version: "v2", Manifest: w.manifest}, w.sender(func(int) {}))
		},
		"commit": func(ctx context.Context, e *Engine) error {
			u := w.begin(t, e, "v2", KVKeep)
			return errors.Join(w.send(u), u.Commit(ctx))
		},
	} {
		e, g := spawnGated(t, Config{Threads: 1, WeightSets: 1, PageSize: 8}, nil)
		g.left.Store(3)
		s := mustAdd(t, e, Request{PromptIDs: text(9), MaxNewTokens: 20, IgnoreEOS: true})
		<-g.reached
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- change(ctx, e) }()
		until(t, "it waits for the step", func() bool { return e.Status().Mode == "pausing" })
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s waits on", name)
		}
		g.open <- struct{}{}
		if out := s.Wait(t.Context()); out.FinishReason != FinishLength || len(out.WeightVersions) != 1 || e.Version() != FirstVersion {
			t.Errorf("%s: ended %s by %v: %v; %q serves", name, out.FinishReason, out.WeightVersions, out.Err, e.Version())
		}
		if err := w.inPlace(t, e, "v3", KVKeep); err != nil {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
}

// A call that gives something back does not wait for ever for who changes the weights, and
// it is given back behind them.
func TestGivingBackIsBounded(t *testing.T) {
	impatient(t)
	e, w := spawnTiny(t, Config{Threads: 1, NumBlocks: 64}), newTrained(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	h, err := e.Pause(ctx, PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	held, err := h.Weights(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	norm, err := held.Tensor("model.norm.weight")
	if err != nil {
		t.Fatal(err)
	}
	norm.Data[1] ^= 0x80
	u := w.begin(t, e, "v2", KVKeep)
	e.life <- struct{}{} // of who hangs
	u.Abort()
	released := make(chan error)
	go func() { released <- h.Release("v2") }()
	time.Sleep(5 * time.Millisecond) // most likely it waits by then
	cancel()
	if err := <-released; !errors.Is(err, ErrHoldLost) {
		t.Errorf("released: %v", err)
	}
	e.others()
	within, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for err = errors.ErrUnsupported; err != nil && within.Err() == nil; err = w.inPlace(t, e, "v2", KVKeep) { // until all is given back
		time.Sleep(time.Millisecond)
	}
	if err != nil || e.Version() != "v2" {
		t.Errorf("%v, %q serves", err, e.Version())
	}
}
