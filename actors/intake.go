package actors

import (
	"fmt"
	"strconv"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sched"
)

// intake owns the table of open requests. It alone ends them.
//
// Concurrency: single goroutine, sole writer of the table while it lives.
type intake struct {
	peers
	table  *table
	limits Limits
	tokens *tokenPool
	log    zerolog.Logger

	number uint64 // of the last command obeyed
	mode   messages.Mode
}

func (a *intake) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *peers:
		a.peers = *m
	case *Submit:
		m.Reply <- a.submit(c, m) // has room for one: never waits
	case *Cancel:
		a.cancel(c, m)
	case *sched.Tokens:
		a.deliver(m)
		a.drained(c)
	case *messages.SetMode:
		a.setMode(c, m)
	case *messages.Halted:
		a.table.failAll(ErrStopped)
		a.drained(c)
	}
}

// submit takes a request in, or says why not before anything is queued.
func (a *intake) submit(c actor.Context, m *Submit) error {
	if a.stopping() {
		return ErrStopping
	}
	if n := 1 + len(m.Children); n > a.limits.MaxOpen { // no waiting would help
		return fmt.Errorf("%w: %d sequences are more than the queue of %d takes", ErrParams, n, a.limits.MaxOpen)
	}
	if n := len(a.table.byID); n+1+len(m.Children) > a.limits.MaxOpen {
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
	parent := a.table.add(m.ID, m.Sink)
	a.table.trace.queued(parent, s, nil)
	for i, sink := range m.Children {
		child := a.table.add(ChildID(m.ID, i+1), sink)
		a.table.trace.queued(child, s, parent)
		parent.children = append(parent.children, child)
	}
	c.Send(a.scheduler, s)
	return nil
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
			a.table.end(o, ReasonCancelled, nil)
			c.Send(a.scheduler, &cancelKey{o.key})
		}
	}
	a.drained(c)
}

// deliver hands a step's tokens to their requests. What ended meanwhile is dropped.
func (a *intake) deliver(m *sched.Tokens) {
	for i := range m.Items {
		it := &m.Items[i]
		o := a.table.byKey[it.Key]
		if o == nil {
			continue
		}
		o.cached, o.preemptions = int(it.Cached), int(it.Preemptions)
		o.tokens += len(it.IDs)
		if len(it.IDs)+len(it.Prompt) > 0 {
			o.sink.Tokens(News{IDs: it.IDs, Drawn: it.Drawn, Prompt: it.Prompt})
		}
		switch it.Finish {
		case sched.Stop:
			a.table.end(o, ReasonStop, nil)
		case sched.Length:
			a.table.end(o, ReasonLength, nil)
		case sched.Failed:
			a.log.Warn().Str("request", o.id).Err(it.Err).Msg("request failed")
			a.table.end(o, ReasonFailed, fmt.Errorf("%w: %w", ErrFailed, it.Err))
		}
	}
	a.tokens.put(m)
}

// stopping tells that nothing new is accepted.
func (a *intake) stopping() bool {
	return a.mode == messages.Mode_MODE_DRAINING || a.mode == messages.Mode_MODE_HALTING
}

func (a *intake) setMode(c actor.Context, m *messages.SetMode) {
	if m.Number <= a.number {
		return
	}
	a.number, a.mode = m.Number, m.Mode
	a.drained(c)
}

// drained tells the supervisor once nothing is open and nothing will be.
func (a *intake) drained(c actor.Context) {
	if a.stopping() && len(a.table.byKey) == 0 {
		c.Send(a.supervisor, &messages.Drained{Number: a.number})
	}
}
