package actors

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

func (r *rig) sleep(kv, weights bool) {
	r.t.Helper()
	if err := r.Sleep(r.t.Context(), kv, weights); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) wake() {
	r.t.Helper()
	if err := r.Wake(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// What sleeps is kept by computing it again: ECHO forgets its cache, so a block that
// was kept would fail the step. Twice to sleep is harmless, and so is twice to wake.
func TestSleepKeepsRequests(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 12, Slots: 4, HostBlocks: 12}, 2, func(r *rig) {
		var open []*record
		for i := range 8 {
			open = append(open, r.add(Submit{ID: ChildID("a", i), IDs: promptOf(30+i/4, i), MaxNew: 40}, i%3/2)...)
		}
		for round := range 6 {
			r.after(7 * stepTime)
			r.sleep(round%3 != 1, round%3 > 0)
			steps := r.steps()
			r.sleep(true, false)
			r.after(time.Hour)
			r.mode("sleeping")
			if s := r.State(); !s.KV || s.Weights != (round%3 > 0) || s.Holders != 0 {
				t.Errorf("round %d: %+v", round, s)
			}
			if r.steps() != steps {
				t.Errorf("round %d: %d steps while it sleeps", round, r.steps()-steps)
			}
			r.wake()
			r.wake()
			r.mode("running")
		}
		r.after(time.Minute)
		for i, a := range open {
			r.ended("one", a, ReasonLength, 40)
			if len(a.ends) == 1 && i < 3 && a.ends[0].Preemptions == 0 {
				t.Error("nothing was given up")
			}
		}
	})
}

// Holders outlast a sleep, and a sleep outlasts them; a soft stop waits for both, a hard
// one for neither, and what is kept sleeps on in the next session.
func TestSleepHoldersAndStops(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 12}, 1, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(30, 1), MaxNew: 10}, 0)[0]
		r.after(3 * stepTime)
		h := r.pause(PauseOptions{})
		r.sleep(true, true)
		r.release(h)
		r.mode("sleeping")
		h = r.pause(PauseOptions{})
		r.wake()
		r.mode("paused")
		r.sleep(true, false)
		r.release(h)
		r.Stop(false, true)
		r.after(time.Hour)
		r.open("a", a)
		r.wake()
		<-r.AtRest()
		r.ended("a", a, ReasonLength, 10)
		r.Resume()

		b := r.add(Submit{ID: "b", IDs: promptOf(30, 1), MaxNew: 10}, 0)[0]
		r.after(3 * stepTime)
		r.sleep(true, false)
		r.Stop(true, true)
		<-r.AtRest()
		r.ended("b", b, ReasonFailed, -1)
		r.mode("stopped")
		r.Resume()
		r.mode("sleeping")
		c := r.add(Submit{ID: "c", IDs: promptOf(30, 1), MaxNew: 10}, 0)[0]
		r.wake()
		r.after(time.Second)
		r.ended("c", c, ReasonLength, 10)
		r.sleep(false, true)
		r.Stop(true, true)
		<-r.AtRest()
		r.wake() // at rest, too
		r.Resume()
		r.mode("running")

		r.add(Submit{ID: "d", IDs: promptOf(30, 1), MaxNew: 10}, 0)
		r.after(stepTime / 4)
		asleep := make(chan error)
		go func() { asleep <- r.Sleep(r.t.Context(), true, true) }()
		r.after(stepTime / 4)
		r.Stop(true, true)
		if err := <-asleep; !errors.Is(err, ErrStopping) {
			t.Errorf("a sleep that a hard stop came before: %v", err)
		}
		<-r.AtRest()
		r.Resume()
		r.mode("running")
	})
}

// A sleep that nobody waits for any more is undone, whether it has begun or not.
func TestSleepIsUndone(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 12}, 1, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(30, 1), MaxNew: 40}, 0)[0]
		r.after(3*stepTime + stepTime/4)
		ctx, cancel := context.WithTimeout(r.t.Context(), stepTime/4)
		defer cancel()
		second := make(chan error, 1)
		go func() { second <- r.Sleep(ctx, true, true) }()
		if err := errors.Join(r.Sleep(ctx, true, true), <-second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it answers %v", err)
		}
		r.after(time.Second)
		r.ended("a", a, ReasonLength, 40)
		r.mode("running")
	})
}

// So is one that had succeeded when its caller gave up, unless somebody else sleeps, too;
// one of an earlier sleep is nothing to the next.
func TestSleepThatSucceededIsUndone(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 12}, 1, func(r *rig) {
		asleep := func() *nap {
			n := &nap{kv: true, answer: make(chan error, 1)}
			r.tell(n)
			if err := <-n.answer; err != nil {
				t.Fatal(err)
			}
			return n
		}
		undo := func(n *nap) { r.tell(&nap{wake: true, undoes: n, answer: make(chan error, 1)}) }
		first := asleep()
		undo(first)
		r.mode("running")
		second, third := asleep(), asleep()
		undo(first)
		undo(second)
		r.mode("sleeping")
		undo(third)
		r.mode("running")

		bad := errors.New("no memory")
		fourth := asleep()
		r.mood.Store(&bad)
		undo(fourth)
		r.mode("sleeping") // it was tried once
		r.mood.Store(nil)
		r.wake()
		r.mode("running")
	})
}

// Who lets weights sleep for a while wakes them, unless somebody else lets something
// sleep; one who had given up is nobody, also if his sleep is being undone just then.
func TestSleepOfWeightsForAWhile(t *testing.T) {
	for _, c := range []struct {
		before, given bool // somebody slept before, and had given up
		mode          string
	}{{false, false, "running"}, {true, false, "sleeping"}, {true, true, "running"}} {
		inVirtualTime(t, executor.EchoConfig{Blocks: 12}, 1, func(r *rig) {
			if c.before {
				n := &nap{kv: true, answer: make(chan error, 1)}
				r.tell(n)
				if err := <-n.answer; err != nil {
					t.Fatal(err)
				}
				if c.given {
					r.tell(&nap{wake: true, undoes: n, answer: make(chan error, 1)})
				}
			}
			wake, err := r.SleepWeights(r.t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.mode("sleeping")
			if err := wake(r.t.Context()); err != nil {
				t.Fatal(err)
			}
			r.mode(c.mode)
			r.wake()
			r.mode("running")
		})
	}
}

// A hard stop that refuses a sleep answers who waits to wake behind it, and the next
// session runs; where something sleeps already, he wakes that.
func TestHardStopBetweenSleepAndWake(t *testing.T) {
	for _, sleeping := range []bool{false, true} {
		inVirtualTime(t, executor.EchoConfig{Blocks: 12}, 1, func(r *rig) {
			r.add(Submit{ID: "a", IDs: promptOf(30, 1), MaxNew: 50}, 0)
			r.after(3*stepTime + stepTime/4)
			if sleeping {
				r.sleep(false, true)
			}
			sleep := &nap{kv: true, answer: make(chan error, 1)}
			wake := &nap{wake: true, answer: make(chan error, 1)}
			r.tell(sleep)
			r.tell(wake)
			r.Stop(true, true)
			if err := <-sleep.answer; !errors.Is(err, ErrStopping) {
				t.Errorf("sleep: %v", err)
			}
			if err := <-wake.answer; err != nil {
				t.Errorf("wake: %v", err)
			}
			<-r.AtRest()
			r.Resume()
			r.mode("running")
			b := r.add(Submit{ID: "b", IDs: promptOf(30, 2), MaxNew: 5}, 0)[0]
			r.after(time.Second)
			r.ended("b", b, ReasonLength, 5)
			r.sleep(true, true)
			r.wake()
		})
	}
}

// An executor that fails to sleep or to wake says so; one that does not wake sleeps on,
// and may be asked again.
func TestSleepFails(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 12}, 1, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(30, 1), MaxNew: 10}, 0)[0]
		bad := errors.New("no memory")
		r.mood.Store(&bad)
		if err := r.Sleep(r.t.Context(), true, true); !errors.Is(err, bad) {
			t.Errorf("sleep: %v", err)
		}
		r.after(time.Second)
		r.ended("a", a, ReasonLength, 10)
		r.mood.Store(nil)
		r.sleep(true, true)
		r.mood.Store(&bad)
		if err := r.Wake(r.t.Context()); !errors.Is(err, bad) {
			t.Errorf("wake: %v", err)
		}
		r.mode("sleeping")
		r.mood.Store(nil)
		r.wake()
		r.mode("running")
	})
}
