package actors

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// pause begins a pause that must succeed.
func (r *rig) pause(o PauseOptions) *Hold {
	r.t.Helper()
	h, err := r.Pause(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

func (r *rig) release(h *Hold) {
	r.t.Helper()
	if err := h.Release(); err != nil {
		r.t.Fatal(err)
	}
}

// mode wants the System to be in a mode.
func (r *rig) mode(want string) {
	r.t.Helper()
	synctest.Wait()
	if got := r.State().Mode; got != want {
		r.t.Errorf("it is %s, want %s", got, want)
	}
}

// has wants a request to have so many tokens, those that it has alone.
func (r *rig) has(what string, rec *record, prompt []int32, tokens int) {
	r.t.Helper()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if want := executor.EchoRef(prompt, tokens, 50021, 1); !slices.Equal(rec.tokens, want) {
		r.t.Errorf("%s has %d tokens, want %d, or others than alone", what, len(rec.tokens), tokens)
	}
}

// A pause begins when the steps that were handed over have ended and their tokens were
// given out; what is open goes on behind it as if nothing had been.
func TestPauseKeepsWhatIsOpen(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 2, func(r *rig) {
		began := time.Now()
		a := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 30}, 0)[0]
		r.after(5*stepTime + stepTime/2)
		h := r.pause(PauseOptions{})
		steps := r.steps()
		if took := time.Since(began); took > 7*stepTime { // two steps were handed over
			t.Errorf("paused after %v", took)
		}
		r.has("a", a, promptOf(20, 1), steps)
		b := r.add(Submit{ID: "b", IDs: promptOf(20, 2), MaxNew: 5}, 0)[0]
		r.after(time.Hour)
		r.mode("paused")
		if r.steps() != steps {
			t.Errorf("%d steps ran while it was paused", r.steps()-steps)
		}
		r.has("a", a, promptOf(20, 1), steps)
		r.release(h)
		r.release(h) // twice is harmless
		r.mode("running")
		r.after(40 * stepTime)
		r.ended("a", a, ReasonLength, 30)
		r.has("a", a, promptOf(20, 1), 30)
		r.ended("b", b, ReasonLength, 5)
		r.has("b", b, promptOf(20, 2), 5)
		if err := h.Err(); err != nil {
			t.Errorf("a hold that was released: %v", err)
		}
		if err := h.Renew(); !errors.Is(err, ErrHoldLost) {
			t.Errorf("renewed after release: %v", err)
		}
	})
}

// Generation goes on when the last holder has left: by release, by the end of its
// lease, or of its context.
func TestTheLastHolderLeaves(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 500}, 0)
		ctx, cancel := context.WithCancel(r.t.Context())
		byContext, err := r.Pause(ctx, PauseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		byLease := r.pause(PauseOptions{Lease: time.Minute})
		byRelease := r.pause(PauseOptions{})
		if n := r.State().Holders; n != 3 {
			t.Errorf("%d holders", n)
		}
		steps := r.steps()
		r.release(byRelease)
		cancel()
		r.after(50 * time.Second)
		if err := byLease.Renew(); err != nil {
			t.Error(err)
		}
		r.after(59 * time.Second)
		if r.steps() != steps {
			t.Error("it went on while one holds the pause")
		}
		r.mode("paused")
		r.after(2 * time.Second)
		r.mode("running")
		if r.steps() == steps {
			t.Error("it does not go on")
		}
		for name, h := range map[string]*Hold{"context": byContext, "lease": byLease} {
			select {
			case <-h.Done():
			default:
				t.Errorf("%s: the hold is not done", name)
			}
			if err := errors.Join(h.Err(), h.Release()); !errors.Is(err, ErrHoldLost) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !errors.Is(byContext.Err(), context.Canceled) {
			t.Errorf("it does not say why: %v", byContext.Err())
		}
		r.Stop(true, false)
	})
}

// A pause whose context ends before it begins leaves no holder.
func TestAPauseThatComesTooLate(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 50}, 0)[0]
		r.after(stepTime / 4)
		ctx, cancel := context.WithTimeout(r.t.Context(), stepTime/2)
		defer cancel()
		if _, err := r.Pause(ctx, PauseOptions{Mode: PauseWait}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it answers %v", err)
		}
		r.after(60 * stepTime)
		r.ended("a", a, ReasonLength, 50)
		r.mode("running")
	})
}

// With PauseWait what has begun completes, also what was given up for another meanwhile
// and the sequences that are yet to be forked; what waits goes on waiting.
func TestPauseWaitLetsFinishWhatHasBegun(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 8, Slots: 3}, 2, func(r *rig) {
		began := append(r.add(Submit{ID: "a", IDs: promptOf(40, 1), MaxNew: 30}, 0), r.add(Submit{ID: "b", IDs: promptOf(40, 2), MaxNew: 25}, 2)...)
		waiting := r.add(Submit{ID: "c", IDs: promptOf(60, 3), MaxNew: 10}, 0)[0]
		r.after(4 * stepTime)
		h := r.pause(PauseOptions{Mode: PauseWait})
		r.ended("a", began[0], ReasonLength, 30)
		for _, b := range began[1:] {
			r.ended("b", b, ReasonLength, 25)
			r.has("b", b, promptOf(40, 2), 25)
		}
		if waiting.started {
			t.Error("what waited has begun")
		}
		steps := r.steps()
		r.after(time.Second)
		if r.steps() != steps {
			t.Error("it goes on")
		}
		r.release(h)
		r.after(time.Second)
		r.ended("c", waiting, ReasonLength, 10)
	})
}

// Who waits for what has begun waits for other holders, too.
func TestPauseWaitBesideAnotherHolder(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 20}, 0)[0]
		r.after(3 * stepTime)
		first := r.pause(PauseOptions{})
		second := make(chan *Hold, 1)
		go func() { second <- r.pause(PauseOptions{Mode: PauseWait}) }()
		r.after(time.Minute)
		r.open("a", a)
		r.release(first)
		h := <-second
		r.ended("a", a, ReasonLength, 20)
		third := r.pause(PauseOptions{Mode: PauseWait}) // nothing has begun: at once
		r.release(h)
		r.mode("paused")
		r.release(third)
		r.mode("running")
	})
}

// With PauseAbort what is open ends with what it has, what comes later waits; nobody
// is forgotten (spare S10 of the field reports).
func TestPauseAbortEndsWhatIsOpen(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 4}, 2, func(r *rig) {
		var open []*record
		for i := range 10 {
			open = append(open, r.add(Submit{ID: ChildID("a", i), IDs: promptOf(20, i), MaxNew: 50}, 0)...)
		}
		r.after(10*stepTime + stepTime/2)
		paused := make(chan *Hold)
		go func() { paused <- r.pause(PauseOptions{Mode: PauseAbort}) }()
		r.after(stepTime / 4)
		r.mode("pausing")
		meanwhile := r.add(Submit{ID: "meanwhile", IDs: promptOf(20, 2), MaxNew: 5}, 0)[0]
		h := <-paused
		r.open("what came before the pause had begun", meanwhile)
		tokens := 0
		for i, a := range open {
			r.ended("a", a, ReasonAborted, -1)
			r.has("a", a, promptOf(20, i), len(a.tokens))
			tokens += len(a.tokens)
		}
		if tokens < 4*8 {
			t.Errorf("they have %d tokens", tokens)
		}
		late := r.add(Submit{ID: "late", IDs: promptOf(20, 1), MaxNew: 5}, 0)[0]
		again := r.pause(PauseOptions{Mode: PauseKeep})
		r.open("what came later", late)
		r.release(h)
		r.release(again)
		r.after(time.Second)
		r.ended("meanwhile", meanwhile, ReasonLength, 5)
		r.ended("late", late, ReasonLength, 5)
		r.has("late", late, promptOf(20, 1), 5)
	})
}

// New requests are refused while one of the holders wants it.
func TestPauseRefuses(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		h := r.pause(PauseOptions{})
		refusing := r.pause(PauseOptions{Refuse: true})
		if _, err := r.try(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 5}, 0); !errors.Is(err, ErrPaused) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("a request: %v", err)
		}
		r.release(refusing)
		b := r.add(Submit{ID: "b", IDs: promptOf(20, 1), MaxNew: 5}, 0)[0]
		r.release(h)
		r.after(time.Second)
		r.ended("b", b, ReasonLength, 5)
	})
}

// A soft stop waits for the end of a pause, a hard one does not; what cannot be paused
// says so at once.
func TestStopsAndPauses(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 5}, 0)[0]
		h := r.pause(PauseOptions{})
		r.Stop(false, true)
		r.after(time.Hour)
		r.open("a", a)
		if _, err := r.try(Submit{ID: "b", IDs: promptOf(20, 1), MaxNew: 5}, 0); !errors.Is(err, ErrStopping) {
			t.Errorf("a request: %v", err)
		}
		other := r.pause(PauseOptions{}) // still possible
		r.release(h)
		r.release(other)
		<-r.AtRest()
		r.ended("a", a, ReasonLength, 5)
		if _, err := r.Pause(r.t.Context(), PauseOptions{}); !errors.Is(err, ErrNotRunning) {
			t.Errorf("pause at rest: %v", err)
		}
		if err := r.Sleep(r.t.Context(), true, true); !errors.Is(err, ErrNotRunning) {
			t.Errorf("sleep at rest: %v", err)
		}
		r.Resume()

		b := r.add(Submit{ID: "b", IDs: promptOf(20, 1), MaxNew: 5}, 0)[0]
		h = r.pause(PauseOptions{})
		r.Stop(true, true)
		<-r.AtRest()
		r.ended("b", b, ReasonFailed, -1)
		if err := h.Release(); !errors.Is(err, ErrHoldLost) || !errors.Is(err, ErrStopped) {
			t.Errorf("release after a hard stop: %v", err)
		}
		r.Resume()
		c := r.add(Submit{ID: "c", IDs: promptOf(20, 1), MaxNew: 5}, 0)[0]
		r.after(time.Second)
		r.ended("c", c, ReasonLength, 5)

		h = r.pause(PauseOptions{})
		r.sys.Root.Send(r.supervisor, &fatal{"test", errors.New("down")})
		<-h.Done()
		if err := h.Err(); !errors.Is(err, ErrCrashed) {
			t.Errorf("the hold of one that crashed: %v", err)
		}
		<-r.System.Done()
		if _, err := r.Pause(r.t.Context(), PauseOptions{}); !errors.Is(err, ErrNotRunning) || !errors.Is(err, ErrCrashed) {
			t.Errorf("pause after a crash: %v", err)
		}
	})
}

// A request that comes while a pause that aborts begins waits for its end, whoever else
// comes to hold it; another who aborts has it end, too.
func TestAbortEndsWhatWasOpenBefore(t *testing.T) {
	for _, second := range []PauseMode{PauseKeep, PauseAbort} {
		inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
			a := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 500}, 0)[0]
			r.after(3*stepTime + stepTime/4)
			var holds [2]*Hold
			var entered sync.WaitGroup
			enter := func(i int, mode PauseMode) {
				entered.Go(func() { holds[i] = r.pause(PauseOptions{Mode: mode}) })
				synctest.Wait()
			}
			enter(0, PauseAbort)
			b := r.add(Submit{ID: "b", IDs: promptOf(20, 2), MaxNew: 5}, 0)[0]
			enter(1, second)
			entered.Wait()
			c := r.add(Submit{ID: "c", IDs: promptOf(20, 3), MaxNew: 5}, 0)[0]
			r.release(holds[0])
			r.release(holds[1])
			r.after(time.Second)
			r.ended("a", a, ReasonAborted, -1)
			if second == PauseAbort {
				r.ended("b", b, ReasonAborted, 0)
			} else {
				r.ended("b", b, ReasonLength, 5)
			}
			r.ended("c", c, ReasonLength, 5)
		})
	}
}

// A holder's request that a sleep overtakes ends at once, and does not wait to be woken.
func TestSleepEndsWhatHoldersCompute(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 50}, 0)[0]
		h := r.pause(PauseOptions{})
		u := r.add(Submit{ID: "u", IDs: promptOf(20, 2), MaxNew: 50, Urgent: true, Private: true}, 0)[0]
		r.after(3*stepTime + stepTime/4)
		r.sleep(false, true)
		synctest.Wait()
		r.failed("u", u, ErrAsleep)
		r.wake()
		r.release(h)
		r.after(time.Second)
		r.ended("a", a, ReasonLength, 50)
	})
}

// failed wants a request to have failed for a reason.
func (r *rig) failed(what string, rec *record, class error) {
	r.t.Helper()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.ends) != 1 || !errors.Is(rec.ends[0].Err, class) {
		r.t.Errorf("%s ended as %v, want %v", what, rec.ends, class)
	}
}
