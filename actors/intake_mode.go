package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/messages"
)

// setMode obeys the supervisor's newest command.
func (a *intake) setMode(c actor.Context, m *messages.SetMode) {
	if m.Number <= a.command.GetNumber() {
		return
	}
	a.command = m
	if m.Abort == m.Number {
		a.asked = a.table.lastKey
	}
	a.drained(c)
}

// stopping tells that nothing new is accepted, and what was completes or fails.
func (a *intake) stopping() bool {
	mode := a.command.GetMode()
	return mode == messages.Mode_MODE_DRAINING || mode == messages.Mode_MODE_HALTING
}

// closed says why a request is not accepted now; nil: it is.
func (a *intake) closed(m *Submit) error {
	switch {
	case a.stopping():
		return ErrStopping
	case a.command.GetMode() == messages.Mode_MODE_STOPPED:
		return ErrNotRunning
	case m.Urgent && a.command.GetShut():
		return ErrAsleep
	case m.Urgent:
		return nil
	case a.command.GetClosed():
		return ErrStopping
	case a.command.GetRefuse():
		return ErrPaused
	}
	return nil
}

// still ends what is to end when no step runs: in a hard stop all, in a pause that
// wants it all that was open before. Then the supervisor may go on.
func (a *intake) still(c actor.Context, m *messages.Still) {
	if m.Number != a.command.GetNumber() { // a later command is on its way through the scheduler
		return
	}
	switch a.command.Mode {
	case messages.Mode_MODE_HALTING:
		a.halt(c)
	case messages.Mode_MODE_STOPPED:
		c.Send(a.supervisor, &messages.Paused{Number: m.Number})
	case messages.Mode_MODE_PAUSED, messages.Mode_MODE_FINISHING:
		begun := m.Begun
		if a.command.Abort > 0 {
			a.abort(c)
			begun = false
		}
		if a.command.Shut {
			a.leaveHolders(c)
		}
		c.Send(a.supervisor, &messages.Paused{Number: m.Number, Begun: begun})
	}
}

// leaveHolders ends the requests of holders that a sleep has overtaken: they would wait
// for its end.
func (a *intake) leaveHolders(c actor.Context) {
	for _, o := range a.table.byKey {
		if o.urgent {
			a.cut(c, o, ReasonFailed, ErrAsleep)
		}
	}
}

// abort ends what was open when a holder asked for it, but for requests of holders.
func (a *intake) abort(c actor.Context) {
	for _, o := range a.table.byKey {
		if o.key <= a.asked && !o.urgent {
			a.cut(c, o, ReasonAborted, nil)
		}
	}
}

// halt fails what is open. The scheduler drops it, too: it may go on in another session.
func (a *intake) halt(c actor.Context) {
	for key := range a.table.byKey {
		c.Send(a.scheduler, &cancelKey{key})
	}
	a.table.failAll(ErrStopped)
	a.drained(c)
}

// drained tells the supervisor once nothing is open and nothing will be.
func (a *intake) drained(c actor.Context) {
	if a.stopping() && len(a.table.byKey) == 0 {
		c.Send(a.supervisor, &messages.Drained{Number: a.command.Number})
	}
}
