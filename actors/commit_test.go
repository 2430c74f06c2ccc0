package actors

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
	"github.com/cbactor/cbactor/weights"
)

// load makes weights of an epoch ready.
func (r *rig) load(epoch uint32) {
	r.t.Helper()
	if err := r.ex.(executor.Loader).Load(context.Background(), &weights.Set{Epoch: epoch}); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits weights that are loaded, and says how long that took.
func (r *rig) commit(c sched.Commit) time.Duration {
	r.t.Helper()
	began := time.Now()
	if err := r.Commit(r.t.Context(), c); err != nil {
		r.t.Fatal(err)
	}
	return time.Since(began)
}

// No step is waited for: a token comes with every step, over a commit too. It is answered
// when the steps that were handed over are done, and then the set before is not named any
// more.
func TestNoStepWaitsForACommit(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		inVirtualTime(t, executor.EchoConfig{Blocks: 64}, depth, func(r *rig) {
			prompt := promptOf(20, 1)
			a := r.add(Submit{ID: "a", IDs: prompt, MaxNew: 30}, 0)[0]
			r.after(5*stepTime + stepTime/2)
			r.load(2)
			if took := r.commit(sched.Commit{Epoch: 2, Version: 1, KV: sched.Recompute}); took > time.Duration(depth)*stepTime+stepTime/2 {
				t.Errorf("depth %d: answered after %v", depth, took)
			}
			if err := r.ex.(executor.Loader).Drop(1); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			<-a.done
			r.after(0)
			r.ended("a", a, ReasonLength, 30)
			old := slices.Index(a.epochs, 2)
			want := executor.EchoRef(prompt, old, 50021, 1)
			want = append(want, executor.EchoRef(append(slices.Clone(prompt), want...), 30-old, 50021, 2)...)
			if old < 4 || old > 8 || !slices.Equal(a.tokens, want) {
				t.Errorf("depth %d: tokens of epochs %v", depth, a.epochs)
			}
			if took := time.Since(began); took > time.Duration(30-old+1)*stepTime {
				t.Errorf("depth %d: the rest took %v", depth, took)
			}
		})
	}
}

// A commit is taken under a pause, and by a System at rest; what is refused changes nothing.
func TestCommitInEveryMode(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Sets: 9}, 2, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 300, KV: sched.Abort}, 0)[0]
		b := r.add(Submit{ID: "b", IDs: promptOf(20, 2), MaxNew: 300, Commits: 1}, 0)[0]
		r.after(9 * stepTime)
		h := r.pause(PauseOptions{})
		r.load(2)
		if took := r.commit(sched.Commit{Epoch: 2, Version: 1}); took != 0 {
			t.Errorf("under a pause it took %v", took)
		}
		r.after(0)
		r.ended("a", a, ReasonAborted, -1)
		r.ended("b", b, ReasonStale, -1)
		if end := a.ends[0].Cache; len(end.Runs) != 1 || end.Runs[0].Epoch != 1 || end.Context != 20+len(a.tokens)-1 {
			t.Errorf("it ended with cache of %+v and %d tokens", end, len(a.tokens))
		}
		r.release(h)
		if err := r.Commit(r.t.Context(), sched.Commit{Epoch: 2}); !errors.Is(err, sched.ErrProtocol) {
			t.Errorf("the same epoch: %v", err)
		}
		late := r.add(Submit{ID: "c", IDs: promptOf(20, 3), MaxNew: 300, Version: 7}, 0)[0]
		r.after(0)
		r.ended("late", late, ReasonStale, 0)
		r.Stop(true, true)
		<-r.AtRest()
		r.load(3)
		r.commit(sched.Commit{Epoch: 3, Version: 2})
		if running, _ := r.Resume(); !running {
			t.Fatal("it does not run again")
		}
		d := r.add(Submit{ID: "d", IDs: promptOf(20, 3), MaxNew: 3, Version: 2}, 0)[0]
		<-d.done
		if !slices.Equal(d.tokens, executor.EchoRef(promptOf(20, 3), 3, 50021, 3)) {
			t.Errorf("tokens of epochs %v", d.epochs)
		}
		e := r.add(Submit{ID: "e", IDs: promptOf(20, 3), MaxNew: 300}, 0)[0]
		ctx, cancel := context.WithCancel(r.t.Context())
		cancel()
		r.load(4)
		if err := r.Commit(ctx, sched.Commit{Epoch: 4, Version: 3}); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("nobody waits: %v", err)
		}
		r.Stop(true, false)
		<-r.Done()
		r.ended("e", e, ReasonFailed, -1)
		if err := r.Commit(r.t.Context(), sched.Commit{Epoch: 5}); !errors.Is(err, ErrClosed) {
			t.Errorf("behind the end: %v", err)
		}
	})
}
