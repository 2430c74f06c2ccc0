package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// Field report D2: giving all requests up in a pause and emptying the cache works with
// some running and some waiting, and leaves no block; afterwards each has its tokens,
// none twice.
func TestD2TheCacheIsEmptiedInAPause(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 3, Tokens: 256}, 1, func(r *rig) {
		before := r.add(Submit{ID: "before", IDs: promptOf(64, 1), MaxNew: 1}, 0)[0]
		r.after(time.Second)
		r.ended("before", before, ReasonLength, 1)
		var open []*record
		for i := range 5 {
			open = append(open, r.add(Submit{ID: ChildID("a", i), IDs: promptOf(64, 2+i), MaxNew: 20}, 0)...)
		}
		r.after(5*stepTime + stepTime/2)
		r.sleep(true, false)
		for i, a := range open[:3] {
			if n := len(a.tokens); n < 5 {
				t.Errorf("number %d has %d tokens", i, n)
			}
			r.has("one that ran", a, promptOf(64, 2+i), len(a.tokens))
		}
		answer, err := r.sys.Root.RequestFuture(r.blocks, &blockmgr.Reserve{}, time.Second).Result()
		if err != nil {
			t.Fatal(err)
		}
		if free := answer.(ahead[blockmgr.Reserved]).it.Free; free != 64 {
			t.Errorf("%d blocks are free of 64", free)
		}
		again := r.add(Submit{ID: "again", IDs: promptOf(64, 1), MaxNew: 1}, 0)[0]
		r.wake()
		r.after(time.Minute)
		for i, a := range open {
			r.ended("one", a, ReasonLength, 20)
			r.has("one", a, promptOf(64, 2+i), 20)
		}
		r.ended("again", again, ReasonLength, 1)
		if n := again.ends[0].Cached; n != 0 {
			t.Errorf("%d tokens are found in a cache that was emptied", n)
		}
	})
}

// Field report D3: pauses and sleeps at any moment are acknowledged when no step runs,
// none runs and no token comes before they end, and what is submitted meanwhile is
// not lost.
func TestD3NoStepAfterThePauseIsAcknowledged(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 8, HostBlocks: 16}, 2, func(r *rig) {
		rnd := rand.New(rand.NewPCG(3, 3))
		var open []*record
		add := func(n int) {
			for range n {
				id := len(open)
				open = append(open, r.add(Submit{ID: fmt.Sprint(id), IDs: promptOf(20, id), MaxNew: 10 + rnd.IntN(20)}, 0)...)
			}
		}
		for round := range 200 {
			add(2)
			r.after(time.Duration(rnd.IntN(100)) * stepTime / 10)
			var h *Hold
			if sleep := rnd.IntN(3); sleep > 0 {
				r.sleep(sleep == 1, sleep == 2)
			} else {
				h = r.pause(PauseOptions{})
			}
			if r.inside.Load() {
				t.Fatalf("round %d: a step runs", round)
			}
			steps, tokens := r.steps(), count(open)
			add(2)
			r.after(time.Second)
			if r.steps() != steps || count(open) != tokens {
				t.Fatalf("round %d: %d steps, %d tokens before it ended", round, r.steps()-steps, count(open)-tokens)
			}
			if h != nil {
				r.release(h)
			}
			r.wake()
		}
		r.after(time.Hour)
		for i, a := range open {
			r.ended("one", a, ReasonLength, -1)
			r.has("one", a, promptOf(20, i), len(a.tokens))
		}
	})
}

// count is the number of tokens that have come.
func count(all []*record) (n int) {
	for _, r := range all {
		r.mu.Lock()
		n += len(r.tokens)
		r.mu.Unlock()
	}
	return n
}

// Field report D6: whatever the order in which pause, sleep, submit, cancel and resume
// come from several sides, every call returns within a second and all goes on.
func TestD6NoOrderOfCallsHangs(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 8}, 2, func(r *rig) {
		rnd := rand.New(rand.NewPCG(6, 6))
		var mu sync.Mutex
		var open []*record
		for shuffle := range 500 {
			ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
			streams := make([]*record, 4)
			for i := range streams {
				streams[i] = r.add(Submit{ID: fmt.Sprint(shuffle, "/", i), IDs: promptOf(20, shuffle*4+i), MaxNew: 20}, 0)[0]
			}
			open = append(open, streams...)
			holds := make(chan *Hold, 1)
			calls := []func() error{
				func() error {
					h, err := r.Pause(ctx, PauseOptions{Mode: PauseMode(shuffle % 3), Lease: time.Minute})
					holds <- h
					return err
				},
				func() error { return r.Sleep(ctx, true, shuffle%2 == 0) },
				func() error {
					all, err := r.try(Submit{ID: fmt.Sprint(shuffle), IDs: promptOf(20, shuffle), MaxNew: 5}, 0)
					mu.Lock()
					defer mu.Unlock()
					open = append(open, all...)
					return err
				},
				func() error { r.Cancel(fmt.Sprint(shuffle, "/", rnd.IntN(4)), nil); return nil },
				func() error {
					err := r.Wake(ctx)
					select {
					case h := <-holds:
						if h != nil {
							return errors.Join(err, h.Release())
						}
					default:
					}
					return err
				},
			}
			rnd.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
			began := time.Now()
			var all sync.WaitGroup
			for side := range 3 {
				mine := calls[side*2 : min(side*2+2, len(calls))]
				if side == 2 {
					mine = calls[4:]
				}
				all.Go(func() {
					for _, call := range mine {
						if err := call(); err != nil && !errors.Is(err, context.DeadlineExceeded) { // who waits for what has begun waits for a sleeper
							t.Errorf("shuffle %d: %v", shuffle, err)
						}
					}
				})
			}
			all.Wait()
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("shuffle %d: took %v", shuffle, took)
			}
			r.wake()
			select {
			case h := <-holds:
				if h != nil {
					if err := h.Release(); err != nil {
						t.Errorf("shuffle %d: %v", shuffle, err)
					}
				}
			default:
			}
			cancel()
			synctest.Wait()
			r.mode("running")
		}
		r.after(time.Hour)
		for i, a := range open {
			if len(a.ends) != 1 || a.ends[0].Reason == ReasonFailed {
				t.Errorf("%d: ended %+v", i, a.ends)
			}
		}
	})
}
