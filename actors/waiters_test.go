package actors

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// full is a rig without room, with four short requests behind many long ones.
func full(t *testing.T, play func(*rig)) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		for i := range r.limits.MaxOpen - 4 {
			r.add(Submit{ID: fmt.Sprint("rest ", i), IDs: promptOf(5, i), MaxNew: 1000}, 0)
		}
		for i := range 4 {
			r.add(Submit{ID: fmt.Sprint(i), IDs: promptOf(5, i), MaxNew: 10}, 0)
		}
		play(r)
	})
}

// wait submits a request that waits for room, and gives where its answer comes.
func (r *rig) wait(id string, children int) (*record, <-chan error) {
	rec, reply := newRecord(r.t), make(chan error, 1)
	m := Submit{ID: id, IDs: promptOf(5, 1), MaxNew: 2, Sink: rec, Reply: reply, Wait: context.Background()}
	for range children {
		m.Children = append(m.Children, newRecord(r.t))
	}
	r.Submit(&m)
	r.after(0)
	return rec, reply
}

// Who waits for room comes in by age: one that needs much room is not overtaken by those
// that need little, nor are these by a newcomer that does not wait.
func TestRoomIsGivenByAge(t *testing.T) {
	full(t, func(r *rig) {
		_, large := r.wait("large", 3)
		_, small := r.wait("small", 0)
		for i := range 3 { // room for three: not enough
			r.Cancel(fmt.Sprint(i), nil)
		}
		r.after(0)
		if len(large)+len(small) > 0 {
			t.Errorf("%d and %d came in, into room for 3", len(large), len(small))
		}
		if _, err := r.try(Submit{ID: "newcomer", IDs: promptOf(5, 1)}, 0); !errors.Is(err, ErrQueueFull) {
			t.Errorf("a newcomer that does not wait: %v", err)
		}
		r.Cancel("3", nil)
		r.after(0)
		if len(large) != 1 || len(small) != 0 {
			t.Fatalf("%d and %d came in, into room for 4", len(large), len(small))
		}
		if err := <-large; err != nil {
			t.Error(err)
		}
		r.after(20 * stepTime)
		if err := <-small; err != nil {
			t.Error(err)
		}
	})
}

// Who waits can be cancelled, alone: those behind go on to wait, and come in if they fit.
func TestWhoWaitsIsCancelled(t *testing.T) {
	full(t, func(r *rig) {
		_, large := r.wait("large", 4)
		other, reply := r.wait("small", 0)
		if _, err := r.try(Submit{ID: "small", IDs: promptOf(5, 1)}, 0); !errors.Is(err, ErrDuplicateID) {
			t.Errorf("an id that waits: %v", err)
		}
		r.Cancel("0", nil)
		r.Cancel("small", newRecord(t)) // of another request of that name
		r.after(0)
		if len(large)+len(reply) > 0 {
			t.Fatal("somebody came in")
		}
		r.Cancel("large", nil)
		r.after(0)
		if err := <-large; !errors.Is(err, ErrCancelled) {
			t.Errorf("cancelled while it waits: %v", err)
		}
		if err := <-reply; err != nil {
			t.Errorf("the one behind: %v", err)
		}
		r.open("the one behind", other)
	})
}

// Who waits is not accepted when its context has ended, though its cancel is yet to come.
func TestWhoWaitsNoLongerIsNotAccepted(t *testing.T) {
	full(t, func(r *rig) {
		ctx, cancel := context.WithCancel(context.Background())
		reply := make(chan error, 1)
		r.Submit(&Submit{ID: "a", IDs: promptOf(5, 1), MaxNew: 2, Sink: newRecord(t), Reply: reply, Wait: ctx})
		r.after(0)
		cancel()
		r.Cancel("0", nil)
		if err := <-reply; !errors.Is(err, ErrCancelled) {
			t.Errorf("accepted: %v", err)
		}
	})
}

// A stop answers all who wait.
func TestAStopAnswersWhoWaits(t *testing.T) {
	full(t, func(r *rig) {
		_, a := r.wait("a", 3)
		_, b := r.wait("b", 0)
		r.Stop(false, true)
		r.after(0)
		for _, reply := range []<-chan error{a, b} {
			if err := <-reply; !errors.Is(err, ErrStopping) {
				t.Errorf("%v", err)
			}
		}
		r.Stop(true, false)
	})
}

// A cancel by the name of a request reaches its children when it has ended itself, but
// not another request that has the name by then.
func TestACancelReachesTheChildrenOfWhatHasEnded(t *testing.T) {
	for _, again := range []bool{false, true} {
		inVirtualTime(t, executor.EchoConfig{Blocks: 256}, 1, func(r *rig) {
			first := executor.EchoRef(promptOf(5, 1), 3, 50021, 1)
			all := r.add(Submit{ID: "a", IDs: promptOf(5, 1), MaxNew: 500, Stop: func() func() Matcher {
				made := 0
				return func() Matcher { made++; return ending{made == 1, first[2]} }
			}()}, 2)
			r.after(20 * stepTime)
			r.ended("the first", all[0], ReasonStop, 3)
			var other *record
			if again {
				other = r.add(Submit{ID: "a", IDs: promptOf(5, 2), MaxNew: 500}, 0)[0]
			}
			r.Cancel("a", nil)
			r.after(2 * stepTime)
			for _, child := range all[1:] {
				if again {
					r.open("a child", child)
				} else {
					r.ended("a child", child, ReasonCancelled, -1)
				}
			}
			if again {
				r.ended("who has the name", other, ReasonCancelled, -1)
				r.Cancel("a", nil) // nobody's any more
				r.after(2 * stepTime)
				r.open("a child", all[1])
				r.Cancel("a/1", nil)
				r.Cancel("a/2", nil)
				r.after(2 * stepTime)
				r.ended("a child", all[1], ReasonCancelled, -1)
			}
		})
	}
}

// ending ends a request at an id, if it is to.
type ending struct {
	does bool
	at   int32
}

func (e ending) Match(ids []int32) int {
	for i, id := range ids {
		if e.does && id == e.at {
			return i + 1
		}
	}
	return -1
}
