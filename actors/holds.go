package actors

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/messages"
)

// takeHold asks the supervisor for a pause, leaveHold to leave it and renewHold to
// begin the lease again. Answers come in channels with room for one; nil: nobody waits.
type (
	takeHold struct {
		hold   *Hold
		answer chan<- error
	}
	leaveHold struct {
		hold   *Hold
		err    error // why; nil: released
		answer chan<- error
	}
	renewHold struct {
		hold   *Hold
		answer chan<- error
	}
)

func (*takeHold) ControlMessage()  {}
func (*leaveHold) ControlMessage() {}
func (*renewHold) ControlMessage() {}

// holder is one who holds the pause, or will.
type holder struct {
	hold   *Hold // nil: who sleeps
	answer chan<- error
	due    time.Time // its lease ends; zero: never
	waits  bool      // for what has begun to complete
	number uint64    // of the command that it came with
}

// holders are all of them, the oldest first. It is a value: it reads no clock.
type holders []*holder

func (h holders) find(hold *Hold) *holder {
	if i := slices.IndexFunc(h, func(o *holder) bool { return o.hold == hold }); i >= 0 {
		return h[i]
	}
	return nil
}

// count is how many hold the pause, but for who sleeps.
func (h holders) count() (n int) {
	for _, o := range h {
		if o.hold != nil {
			n++
		}
	}
	return n
}

// order makes of the command to run or to drain what they want together.
func (h holders) order(m *messages.SetMode) {
	if len(h) == 0 {
		return
	}
	m.Holders = uint32(h.count())
	m.Closed, m.Mode = m.Mode == messages.Mode_MODE_DRAINING, messages.Mode_MODE_FINISHING
	for _, o := range h {
		if !o.waits {
			m.Mode = messages.Mode_MODE_PAUSED
		}
		if o.hold == nil {
			m.Shut = true
			continue
		}
		m.Refuse = m.Refuse || o.hold.o.Refuse
		if o.answer != nil && o.hold.o.Mode == PauseAbort {
			m.Abort = o.number // the youngest's: it ends what the older ones do, too
		}
	}
}

// nextDue is when the next lease ends; zero: none does.
func (h holders) nextDue() (next time.Time) {
	for _, o := range h {
		if !o.due.IsZero() && (next.IsZero() || o.due.Before(next)) {
			next = o.due
		}
	}
	return next
}

// tell answers a holder that waits for the pause.
func (o *holder) tell(err error) {
	if o.answer != nil {
		o.answer <- err // has room for one
		o.answer = nil
	}
}

// take lets a holder in, and pauses.
func (a *supervisor) take(c actor.Context, m *takeHold) {
	if err := a.cannotPause(); err != nil {
		m.answer <- err
		return
	}
	o := &holder{hold: m.hold, answer: m.answer, waits: m.hold.o.Mode == PauseWait, number: a.number + 1}
	if lease := m.hold.o.Lease; lease > 0 {
		o.due = time.Now().Add(lease)
	}
	a.holders = append(a.holders, o)
	a.alarm.set(c, a.holders.nextDue())
	a.command(c)
}

// cannotPause says why there is nothing to pause; nil: there is.
func (a *supervisor) cannotPause() error {
	switch {
	case a.going || a.session == messages.Mode_MODE_HALTING:
		return ErrStopping
	case a.session == messages.Mode_MODE_STOPPED:
		return ErrNotRunning
	}
	return nil
}

// paused lets those know whose pause has begun, or that a session rests.
func (a *supervisor) paused(c actor.Context, m *messages.Paused) {
	if m.Number != a.number { // another command has gone out since
		return
	}
	if a.session == messages.Mode_MODE_STOPPED {
		if !a.resting {
			a.resting = true
			a.rest(true)
		}
		return
	}
	waited := false
	for _, o := range a.holders {
		if o.waits && !m.Begun {
			o.waits, waited = false, true
		}
	}
	if waited && a.mode == messages.Mode_MODE_FINISHING {
		a.command(c)
		return
	}
	a.still = a.mode == messages.Mode_MODE_PAUSED
	a.publish() // before anybody is told, who may look
	for _, o := range a.holders {
		if !o.waits {
			o.tell(nil)
		}
	}
	a.settle(c)
}

// release lets a holder go, and goes on after the last.
func (a *supervisor) release(c actor.Context, m *leaveHold) {
	if o := a.holders.find(m.hold); o != nil {
		a.drop(o, m.err)
		a.command(c)
	}
	if m.answer != nil {
		m.answer <- m.hold.Err()
	}
}

// renew begins a holder's lease again.
func (a *supervisor) renew(c actor.Context, m *renewHold) {
	o := a.holders.find(m.hold)
	if o == nil {
		m.answer <- cmp.Or(m.hold.Err(), fmt.Errorf("%w: it was released", ErrHoldLost))
		return
	}
	if lease := m.hold.o.Lease; lease > 0 {
		o.due = time.Now().Add(lease)
		a.alarm.set(c, a.holders.nextDue())
	}
	m.answer <- nil
}

// expire ends the holds whose lease is over.
func (a *supervisor) expire(c actor.Context) {
	a.alarm.rang()
	now, lost := time.Now(), false
	for _, o := range slices.Clone(a.holders) {
		if !o.due.IsZero() && !o.due.After(now) {
			a.drop(o, fmt.Errorf("%w: its lease has ended", ErrHoldLost))
			lost = true
		}
	}
	a.alarm.set(c, a.holders.nextDue())
	if lost {
		a.command(c)
	}
}

// drop takes a holder out.
func (a *supervisor) drop(o *holder, err error) {
	a.holders = slices.DeleteFunc(a.holders, func(other *holder) bool { return other == o })
	o.tell(err)
	if o.hold != nil {
		o.hold.end(err)
	}
}

// dropAll takes out all holders but who sleeps.
func (a *supervisor) dropAll(err error) {
	for _, o := range slices.Clone(a.holders) {
		if o.hold != nil {
			a.drop(o, fmt.Errorf("%w: %w", ErrHoldLost, err))
		}
	}
}
