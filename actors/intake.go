package actors

import (
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sched"
)

// intake owns the table of open requests and the line of those that wait for room in
// it. It alone ends them: of its own accord when their time is up, or when their matcher
// finds the end.
//
// Concurrency: single goroutine, sole writer of the table while it lives.
type intake struct {
	peers
	table  *table
	line   waiters
	limits Limits
	tokens *tokenPool
	alarm  alarm // at the nearest deadline or before
	log    zerolog.Logger

	command *messages.SetMode // the last one obeyed
	asked   sched.Key         // the last request that was there when a holder asked to abort
}

func (a *intake) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *peers:
		a.peers = *m
	case *Submit:
		a.submit(c, m)
	case *Cancel:
		a.cancel(c, m)
	case *UnloadAdapter:
		a.line.refuse(m.Name)
		c.Send(a.scheduler, m) // behind all requests that have it
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
	a.seat(c) // somebody may have ended, or the mode changed
	a.table.meter.line.Store(int64(a.line.byAge.Len()))
}

// admit takes in a request that is checked and has room.
func (a *intake) admit(c actor.Context, m *Submit) {
	s := m.form
	s.Key, s.Urgent = a.table.lastKey+1, m.Urgent
	a.open(m, s)
	a.alarm.set(c, a.table.deadlines.next())
	c.Send(a.scheduler, s)
}

// open enters all sequences of a request into the table.
func (a *intake) open(m *Submit, s *sched.Submit) {
	now := time.Now()
	after := func(d time.Duration) (t time.Time) {
		if d > 0 {
			t = now.Add(d)
		}
		return t
	}
	enter := func(n int, sink Sink, parent *open) *open {
		o := a.table.add(ChildID(m.ID, n), sink)
		o.matcher, o.urgent = m.matchers[n], m.Urgent
		a.table.limit(o, after(m.FirstToken), after(m.Deadline))
		a.table.trace.queued(o, s, parent)
		return o
	}
	parent := enter(0, m.Sink, nil)
	parent.prompt = len(m.IDs)
	for i, sink := range m.Children {
		a.table.join(parent, enter(i+1, sink, parent))
	}
}

// ChildID names sequence number n of a request; 0 is the request itself.
func ChildID(id string, n int) string {
	if n == 0 {
		return id
	}
	return id + "/" + strconv.Itoa(n)
}

// cancel ends a request, with its children as far as they are still open, also if it
// has ended itself. One that waits for room is not accepted.
func (a *intake) cancel(c actor.Context, m *Cancel) {
	if a.line.cancel(m) {
		return
	}
	o := a.table.find(m.ID)
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
