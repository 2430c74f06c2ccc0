package actors

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/messages"
)

// A session that is kept ends without the System, and the next one goes on with it:
// its slots and blocks are free, whatever was open at a hard stop, and none of that
// goes on.
func TestTheNextSessionHasAllOfTheCache(t *testing.T) {
	var gate atomic.Pointer[chan struct{}] // of steps that go one by one; nil: they are not held up
	var rows atomic.Int64                  // of the others
	s := startEcho(t, func(b *executor.Batch) {
		if g := gate.Load(); g != nil {
			<-*g
		} else {
			rows.Add(int64(len(b.Rows)))
		}
	})
	for round := range 6 {
		steps := make(chan struct{})
		gate.Store(&steps)
		var open []*record
		for i := range 12 { // of 8 slots
			r := newRecord(t)
			if err := submit(s, string(rune('a'+i)), r, 400); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			open = append(open, r)
		}
		for range 10 {
			steps <- struct{}{}
		}
		s.Stop(true, true)
		close(steps) // not before, so that nothing ends by itself
		<-s.AtRest()
		for _, r := range open {
			if e := r.wait(); e.Reason != ReasonFailed || !errors.Is(e.Err, ErrStopped) {
				t.Errorf("round %d: ended %+v", round, e)
			}
		}
		if err := submit(s, "late", newRecord(t), 1); !errors.Is(err, ErrNotRunning) {
			t.Errorf("round %d: a request at rest: %v", round, err)
		}
		for range 2 { // the second time it runs already
			if !resumes(s) {
				t.Fatalf("round %d: it does not go on", round)
			}
		}
		gate.Store(nil)
		rows.Store(0)
		r := newRecord(t)
		if err := submit(s, "whole", r, 1000); err != nil {
			t.Fatal(err)
		}
		if e := r.wait(); e.Reason != ReasonLength || !slices.Equal(r.tokens, executor.EchoRef([]int32{3, 1, 4}, 1000, 50021, 1)) {
			t.Errorf("round %d: after it a request ended %+v with %d tokens", round, e, len(r.tokens))
		}
		if n := rows.Load(); n > 1100 {
			t.Errorf("round %d: %d rows for 1000 tokens: who was stopped goes on", round, n)
		}
	}
}

// At rest no step runs, also where the last request has ended before its step.
func TestNoStepRunsAtRest(t *testing.T) {
	for _, hard := range []bool{true, false} {
		inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
			one := r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 30}, 0)[0]
			r.after(5*stepTime + stepTime/2)
			r.Cancel("a", nil)
			synctest.Wait()
			r.ended("a", one, ReasonCancelled, -1)
			if !r.inside.Load() {
				t.Fatal("no step runs: the test shows nothing")
			}
			r.Stop(hard, true)
			<-r.AtRest()
			if r.inside.Load() {
				t.Errorf("hard %t: a step runs", hard)
			}
			if running, ending := r.Resume(); !running || ending {
				t.Errorf("hard %t: it does not go on", hard)
			}
		})
	}
}

// What a session says of its end late does not end the next one.
func TestALateEndOfASessionIsIgnored(t *testing.T) {
	s := startEcho(t, func(*executor.Batch) { time.Sleep(time.Millisecond) })
	s.Stop(false, true)
	<-s.AtRest()
	if !resumes(s) {
		t.Fatal("it does not go on")
	}
	r := newRecord(t)
	if err := submit(s, "a", r, 100); err != nil {
		t.Fatal(err)
	}
	s.sys.Root.Send(s.supervisor, &messages.Drained{Number: 2})
	s.sys.Root.Send(s.intake, &messages.Still{Number: 2})
	if e := r.wait(); e.Reason != ReasonLength {
		t.Errorf("ended %+v", e)
	}
}

// The cache is kept only if every stop of a session wants it, whichever comes first.
func TestOneStopWithoutKeepEndsTheSystem(t *testing.T) {
	for name, stops := range map[string][2]bool{"keep first": {true, false}, "keep last": {false, true}} {
		gate := make(chan struct{})
		s := startEcho(t, func(*executor.Batch) { <-gate })
		r := newRecord(t)
		if err := submit(s, "a", r, 20); err != nil {
			t.Fatal(err)
		}
		for _, keep := range stops {
			s.Stop(false, keep)
		}
		close(gate) // not before, so that no session is over yet
		select {
		case <-s.Done():
		case <-s.AtRest():
			t.Errorf("%s: it is kept", name)
		}
		if e := r.wait(); e.Reason != ReasonLength || resumes(s) {
			t.Errorf("%s: ended %+v, or it goes on", name, e)
		}
	}
}

func resumes(s *System) bool {
	running, _ := s.Resume()
	return running
}
