package actors

import (
	"fmt"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sched"
)

// intake owns the table of open requests. It alone ends them: of its own accord when
// their time is up, or when their matcher finds the end.
//
// Concurrency: single goroutine, sole writer of the table while it lives.
type intake struct {
	peers
	table  *table
	limits Limits
	tokens *tokenPool
	alarm  alarm // at the nearest deadline or before
	log    zerolog.Logger

	command *messages.SetMode // the last one obeyed
	asked   sched.Key         // the last request that was there when it came
}

func (a *intake) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *peers:
		a.peers = *m
	case *Submit:
		m.Reply <- a.submit(c, m) // has room for one: never waits
	case *Cancel:
		a.cancel(c, m)
	case *begun:
		a.start(m)
	case ahead[sched.Tokens]:
		a.deliver(c, m.it)
		a.alarm.set(c, a.table.deadlines.next())
		a.drained(c)
	case ring:
		a.alarm.rang()
		a.expire(c)
		a.alarm.set(c, a.table.deadlines.next())
		a.drained(c)
	case *actor.Stopping:
		a.alarm.stop()
	case *messages.SetMode:
		a.setMode(c, m)
	case *messages.Still:
		a.still(c, m)
	}
}

// submit takes a request in, or says why not before anything is queued.
func (a *intake) submit(c actor.Context, m *Submit) error {
	if err := a.closed(m); err != nil {
		return err
	}
	if n := 1 + len(m.Children); n > a.limits.MaxOpen { // no waiting would help
		return fmt.Errorf("%w: %d sequences are more than the queue of %d takes", ErrParams, n, a.limits.MaxOpen)
	}
	if n := len(a.table.byID); n+1+len(m.Children) > a.limits.MaxOpen && !m.Urgent {
		return fmt.Errorf("%w: %d requests are open: try again when some have ended", ErrQueueFull, n)
	}
	for i := range 1 + len(m.Children) {
		if id := ChildID(m.ID, i); a.table.byID[id] != nil {
			return fmt.Errorf("%w: %q", ErrDuplicateID, id)
		}
	}
	s, err := a.limits.admit(m, a.table.lastKey+1)
	if err != nil {
		return err
	}
	matchers, err := newMatchers(m.Stop, 1+len(m.Children))
	if err != nil {
		return err
	}
	a.open(m, s, matchers)
	a.alarm.set(c, a.table.deadlines.next())
	c.Send(a.scheduler, s)
	return nil
}

// open enters all sequences of a request into the table.
func (a *intake) open(m *Submit, s *sched.Submit, matchers []Matcher) {
	now := time.Now()
	after := func(d time.Duration) (t time.Time) {
		if d > 0 {
			t = now.Add(d)
		}
		return t
	}
	enter := func(n int, sink Sink, parent *open) *open {
		o := a.table.add(ChildID(m.ID, n), sink)
		o.matcher, o.urgent = matchers[n], m.Urgent
		a.table.limit(o, after(m.FirstToken), after(m.Deadline))
		a.table.trace.queued(o, s, parent)
		return o
	}
	parent := enter(0, m.Sink, nil)
	for i, sink := range m.Children {
		parent.children = append(parent.children, enter(i+1, sink, parent))
	}
}

// ChildID names sequence number n of a request; 0 is the request itself.
func ChildID(id string, n int) string {
	if n == 0 {
		return id
	}
	return id + "/" + strconv.Itoa(n)
}

// cancel ends a request, with its children as far as they are still open.
func (a *intake) cancel(c actor.Context, m *Cancel) {
	o := a.table.byID[m.ID]
	if o == nil || m.Sink != nil && o.sink != m.Sink {
		return
	}
	for _, o := range append(o.children, o) {
		if a.table.byKey[o.key] == o {
			a.cut(c, o, ReasonCancelled, nil)
		}
	}
	a.drained(c)
}

// expire ends the requests whose time is up, each with what it has.
func (a *intake) expire(c actor.Context) {
	now := time.Now()
	for o := a.table.deadlines.passed(now); o != nil; o = a.table.deadlines.passed(now) {
		a.cut(c, o, ReasonDeadline, nil)
	}
}

// cut ends a request that the scheduler goes on with until it hears of it.
func (a *intake) cut(c actor.Context, o *open, reason Reason, err error) {
	a.table.end(o, reason, err)
	c.Send(a.scheduler, &cancelKey{o.key})
}
