package actors

import (
	"container/list"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// waiters is the requests that wait for room among the open ones, by age. Those behind
// the first wait as long as it does, however few sequences they have, and no newcomer
// goes before them: so what is free adds up until the first fits.
type waiters struct {
	byAge list.List // of *Submit
	byID  map[string]*list.Element
}

// join puts a request behind the others.
func (l *waiters) join(m *Submit) {
	if l.byID == nil {
		l.byID = map[string]*list.Element{}
	}
	l.byID[m.ID] = l.byAge.PushBack(m)
}

// first is the oldest, nil: nobody waits.
func (l *waiters) first() *Submit {
	if e := l.byAge.Front(); e != nil {
		return e.Value.(*Submit)
	}
	return nil
}

// find is the request with an id, nil: it does not wait.
func (l *waiters) find(id string) *Submit {
	if e := l.byID[id]; e != nil {
		return e.Value.(*Submit)
	}
	return nil
}

// leave takes out the request with an id.
func (l *waiters) leave(id string) {
	l.byAge.Remove(l.byID[id])
	delete(l.byID, id)
}

// submit takes a request in, has it wait for room if it wants to, or says why neither.
func (a *intake) submit(c actor.Context, m *Submit) {
	err := a.refused(m)
	switch {
	case err != nil:
	case a.line.first() == nil && a.room(m):
		a.admit(c, m)
	case m.Wait:
		a.line.join(m)
		return
	default:
		err = fmt.Errorf("%w: %d requests are open and %d wait for room: try again when some have ended", ErrQueueFull, len(a.table.byID), a.line.byAge.Len())
	}
	m.Reply <- err // has room for one: never waits
}

// refused says why a request is not accepted, whether there is room or not; nil: it is.
func (a *intake) refused(m *Submit) error {
	if err := a.closed(); err != nil {
		return err
	}
	if other := a.line.find(m.ID); other != nil && other != m {
		return fmt.Errorf("%w: %q", ErrDuplicateID, m.ID)
	}
	for i := range m.sequences() {
		if id := ChildID(m.ID, i); a.table.byID[id] != nil {
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
		err := a.refused(m)
		if err == nil && !a.room(m) {
			return
		}
		a.line.leave(m.ID)
		if err == nil {
			a.admit(c, m)
		}
		m.Reply <- err
	}
}
