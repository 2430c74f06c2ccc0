package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Updates, also in place, beside requests, stops, pauses and sleeps end in time, with
// memory for two sets and for one, and leave the engine of use.
func TestUpdatesBesideStops(t *testing.T) {
	for sets := 1; sets <= 2; sets++ {
		t.Run(fmt.Sprint(sets), func(t *testing.T) {
			e := spawnTiny(t, Config{Threads: 1, MaxContext: 256, WeightSets: sets})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			over := make(chan struct{})
			var beside []<-chan error
			for i, do := range []func(context.Context, *Engine, *rand.Rand) error{stopAWhile, holdAWhile, sleepAWhile} {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				beside = append(beside, repeated(over, func() error { return do(ctx, e, r) }))
			}
			w := newTrained(t, 1)
			for i := range 6 {
				if err := w.change(ctx, e, UpdateOptions{Version: fmt.Sprint("w", i), Manifest: w.manifest, KV: KVPolicy(i % 4)}, i%2 == 0); err != nil {
					t.Fatal(err)
				}
			}
			close(over)
			for _, done := range beside {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if s := e.Status(); s != (Status{Mode: "running"}) {
				t.Errorf("it is %+v", s)
			}
			if out := greedy(t, e, text(9), 3); out.WeightVersions[0].Version != "w5" || e.Version() != "w5" {
				t.Errorf("%q serves, tokens by %v", e.Version(), out.WeightVersions)
			}
		})
	}
}

// change commits the set, beside the one that serves or in its place.
func (w *trained) change(ctx context.Context, e *Engine, o UpdateOptions, inPlace bool) error {
	if inPlace {
		return e.UpdateInPlace(ctx, o, w.sender(func(int) {}))
	}
	u, err := e.Update(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(w.send(u), u.Commit(ctx))
}

// repeated does something until it is over or fails, and tells how it ended.
func repeated(over <-chan struct{}, do func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		for {
			select {
			case <-over:
				done <- nil
				return
			default:
			}
			if err := do(); err != nil {
				done <- err
				return
			}
		}
	}()
	return done
}

// available is an error but for those of an engine that is stopped just now.
func available(err error) error {
	if errors.Is(err, ErrUnavailable) {
		return nil
	}
	return err
}

// stopAWhile stops what has been asked for, and starts again.
func stopAWhile(ctx context.Context, e *Engine, r *rand.Rand) error {
	s, err := e.AddRequest(ctx, Request{PromptIDs: text(20), MaxNewTokens: 50})
	if err == nil && r.IntN(3) == 0 {
		s.Wait(ctx)
	}
	return errors.Join(available(err), e.Stop(ctx, StopOptions{Hard: true, Keep: r.IntN(2) == 0}), e.Start(ctx))
}

// holdAWhile pauses in some way.
func holdAWhile(ctx context.Context, e *Engine, r *rand.Rand) error {
	h, err := e.Pause(ctx, PauseOptions{Mode: PauseMode(r.IntN(3))})
	if err != nil {
		return available(err)
	}
	time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
	return available(h.Release(""))
}

// sleepAWhile lets some memory sleep, and wakes it.
func sleepAWhile(ctx context.Context, e *Engine, r *rand.Rand) error {
	err := available(e.Sleep(ctx, Part(1+r.IntN(3))))
	time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
	for {
		switch waking := e.Wake(ctx); {
		case waking == nil, ctx.Err() != nil:
			return errors.Join(err, waking)
		case available(waking) != nil:
			return errors.Join(err, waking)
		}
		time.Sleep(time.Millisecond) // between two sessions
	}
}
