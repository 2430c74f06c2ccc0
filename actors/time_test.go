package actors

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/executor"
)

// A request whose time is up ends with what it has; its blocks are free when the
// steps handed over are done, and the others do not notice.
func TestADeadlineEndsARequestWithWhatItHas(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		inVirtualTime(t, executor.EchoConfig{Blocks: 8}, depth, func(r *rig) {
			late := r.add(Submit{ID: "late", IDs: promptOf(64, 1), MaxNew: 50, Deadline: 105 * time.Millisecond}, 0)[0]
			r.after(106 * time.Millisecond)
			got := len(late.tokens)
			if got < 5 || got > 10 {
				t.Errorf("depth %d: %d tokens in ten steps", depth, got)
			}
			r.ended("the late one", late, ReasonDeadline, got)
			if want := executor.EchoRef(promptOf(64, 1), got, 50021, 1); !slices.Equal(late.tokens, want) {
				t.Errorf("got %v, want %v", late.tokens, want)
			}
			before := r.steps()
			next := r.add(Submit{ID: "next", IDs: promptOf(128, 2), MaxNew: 1}, 0)[0] // takes the whole cache
			r.after(5 * stepTime)
			r.ended("one that needs every block", next, ReasonLength, 1)
			if n := r.steps() - before; n > depth+3 {
				t.Errorf("depth %d: %d steps, two are for the next one's prompt", depth, n)
			}
		})
	}
}

// The first token has a limit of its own, which its coming keeps; in line and in a
// long prompt it can pass.
func TestTheFirstTokenHasALimit(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 2, Tokens: 16}, 1, func(r *rig) {
		quick := r.add(Submit{ID: "quick", IDs: promptOf(10, 1), MaxNew: 40, FirstToken: 55 * time.Millisecond}, 0)[0]
		long := r.add(Submit{ID: "long", IDs: promptOf(600, 2), MaxNew: 4, FirstToken: 55 * time.Millisecond}, 0)[0]
		line := r.add(Submit{ID: "line", IDs: promptOf(10, 3), MaxNew: 4, FirstToken: 35 * time.Millisecond}, 0)[0]
		r.after(40 * time.Millisecond)
		r.ended("the one in line", line, ReasonDeadline, 0)
		r.open("the long one", long)
		r.after(20 * time.Millisecond)
		r.ended("the long one", long, ReasonDeadline, 0)
		r.open("the quick one", quick)
		r.after(time.Second)
		r.ended("the quick one", quick, ReasonLength, 40)
		if line.started || !long.started {
			t.Error("started: the one in line, or not the long one")
		}
	})
}

// The limit to the end counts on behind the first token, also when it is the nearer
// one that was kept.
func TestTheDeadlineCountsOnBehindTheFirstToken(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(10, 1), MaxNew: 100, FirstToken: 55 * time.Millisecond, Deadline: 205 * time.Millisecond}, 0)[0]
		r.after(204 * time.Millisecond)
		r.open("the request", a)
		r.after(2 * time.Millisecond)
		r.ended("the request", a, ReasonDeadline, -1)
	})
}

// Each sequence of a request has its own limit: one that has its first token goes on
// when another one, which found no slot, is late.
func TestSequencesAreLateEachForThemselves(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 2}, 1, func(r *rig) {
		all := r.add(Submit{ID: "a", IDs: promptOf(10, 1), MaxNew: 20, FirstToken: 55 * time.Millisecond}, 2)
		r.after(time.Second)
		r.ended("the first", all[0], ReasonLength, 20)
		r.ended("the second", all[1], ReasonLength, 20)
		r.ended("the third", all[2], ReasonDeadline, 0)
		if want := executor.EchoRef(promptOf(10, 1), 20, 50021, 1); !slices.Equal(all[0].tokens, want) {
			t.Errorf("got %v, want %v", all[0].tokens, want)
		}
	})
}

// A thousand limits need one timer, ring in order, and leave nothing.
func TestManyDeadlines(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 1}, 1, func(r *rig) {
		var all []*record
		for i := range 900 {
			d := time.Duration(1+(i*7)%900) * time.Millisecond
			all = append(all, r.add(Submit{ID: fmt.Sprint(i), IDs: promptOf(3, i), MaxNew: 1000, Deadline: d}, 0)[0])
		}
		r.after(450*time.Millisecond + 100*time.Microsecond)
		for i, rec := range all {
			if passed := 1+(i*7)%900 <= 450; passed {
				r.ended("a request", rec, ReasonDeadline, -1)
			} else {
				r.open("a request", rec)
			}
		}
		r.after(time.Second)
		for _, rec := range all {
			r.ended("a request", rec, ReasonDeadline, -1)
		}
	})
}

// A limit that is left when the actors end rings for nobody.
func TestNoDeadlineRingsBehindTheEnd(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		r.add(Submit{ID: "a", IDs: promptOf(3, 1), MaxNew: 2, Deadline: time.Hour}, 0)
		r.after(time.Second)
		r.Stop(false, false)
		<-r.Done()
		r.after(time.Second)
		r.sys.EventStream.Subscribe(func(m any) {
			if d, ok := m.(*actor.DeadLetterEvent); ok && d.Message == (ring{}) {
				t.Error("it rings")
			}
		})
		r.after(2 * time.Hour)
	})
}

// Started comes once, before the first token, however often a request is given up.
func TestStartedComesOnce(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 8}, 2, func(r *rig) {
		a := r.add(Submit{ID: "a", IDs: promptOf(60, 1), MaxNew: 40}, 0)[0]
		b := r.add(Submit{ID: "b", IDs: promptOf(30, 2), MaxNew: 40}, 1)
		r.after(5 * time.Second)
		for what, rec := range map[string]*record{"the oldest": a, "the parent": b[0], "the child": b[1]} {
			r.ended(what, rec, ReasonLength, 40)
			if !rec.started {
				t.Errorf("%s never started", what)
			}
		}
		if b[0].ends[0].Preemptions+b[1].ends[0].Preemptions == 0 {
			t.Error("nobody was given up")
		}
	})
}
