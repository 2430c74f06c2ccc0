package actors

import (
	"cmp"
	"container/list"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// waiters is the requests that wait for room among the open ones, by age. Those behind
// the first wait as long as it does, however few sequences they have, and no newcomer
// goes before them: so what is free adds up until the first fits.
type waiters struct {
	byAge list.List                // of *Submit
	byID  map[string]*list.Element // of each of their sequences
}

// join puts a request behind the others.
func (l *waiters) join(m *Submit) {
	if l.byID == nil {
		l.byID = map[string]*list.Element{}
	}
	e := l.byAge.PushBack(m)
	for i := range m.sequences() {
		l.byID[ChildID(m.ID, i)] = e
	}
}

// first is the oldest, nil: nobody waits.
func (l *waiters) first() *Submit {
	if e := l.byAge.Front(); e != nil {
		return e.Value.(*Submit)
	}
	return nil
}

// find is the request that a sequence is of, nil: it does not wait.
func (l *waiters) find(id string) *Submit {
	if e := l.byID[id]; e != nil {
		return e.Value.(*Submit)
	}
	return nil
}

// leave takes out a request.
func (l *waiters) leave(m *Submit) {
	l.byAge.Remove(l.byID[m.ID])
	for i := range m.sequences() {
		delete(l.byID, ChildID(m.ID, i))
	}
}

// cancel has a sequence end once its request comes in; if it is the first of one, that
// does not come in. It tells whether it is of one that waits.
func (l *waiters) cancel(c *Cancel) bool {
	m := l.find(c.ID)
	if m == nil {
		return false
	}
	if c.ID == m.ID && (c.Sink == nil || c.Sink == m.Sink) {
		l.leave(m)
		m.Reply <- ErrCancelled
		return true
	}
	for i, sink := range m.Children {
		if c.ID == ChildID(m.ID, i+1) && (c.Sink == nil || c.Sink == sink) {
			if m.cut == nil {
				m.cut = make([]bool, m.sequences())
			}
			m.cut[i+1] = true
			return true
		}
	}
	return false
}

// refuse answers those who wait with an adapter that leaves.
func (l *waiters) refuse(adapter string) {
	for e := l.byAge.Front(); e != nil; {
		m := e.Value.(*Submit)
		e = e.Next()
		if m.Adapter == adapter {
			l.leave(m)
			m.Reply <- fmt.Errorf("%w: %.80q", ErrUnknownAdapter, adapter)
		}
	}
}

// submit takes a request in, has it wait for room if it wants to, or says why neither.
func (a *intake) submit(c actor.Context, m *Submit) {
	err := cmp.Or(a.closed(m), a.taken(m))
	switch {
	case err != nil:
	case m.Urgent || a.line.first() == nil && a.room(m):
		a.admit(c, m)
	case m.Wait != nil:
		a.line.join(m)
		return
	default:
		err = fmt.Errorf("%w: %d requests are open and %d wait for room: try again when some have ended", ErrQueueFull, len(a.table.byID), a.line.byAge.Len())
	}
	m.Reply <- err // has room for one: never waits
}

// taken refuses a request with an id in use.
func (a *intake) taken(m *Submit) error {
	for i := range m.sequences() {
		id := ChildID(m.ID, i)
		if other := a.line.find(id); a.table.byID[id] != nil || other != nil && other != m {
			return fmt.Errorf("%w: %q", ErrDuplicateID, id)
		}
	}
	return nil
}

// room tells whether all sequences of a request may be open beside those that are.
func (a *intake) room(m *Submit) bool {
	return len(a.table.byID)+m.sequences() <= a.limits.MaxOpen
}

// seat takes in those who wait, as far as there is room, or tells all of them that
// nothing is accepted any more.
func (a *intake) seat(c actor.Context) {
	for m := a.line.first(); m != nil; m = a.line.first() {
		err := a.closed(m)
		switch {
		case err != nil:
		case m.Wait.Err() != nil: // its cancel is on the way
			err = ErrCancelled
		case !a.room(m):
			return
		default:
			err = a.taken(m)
		}
		a.line.leave(m)
		if err == nil {
			a.admit(c, m)
			for i, cut := range m.cut {
				if cut {
					a.cut(c, a.table.byID[ChildID(m.ID, i)], ReasonCancelled, nil)
				}
			}
		}
		m.Reply <- err
	}
}
