package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/executor"
)

// nap asks the supervisor to let the executor sleep, or to wake it. Such requests go
// one after another. The answer comes in a channel with room for one.
type nap struct {
	kv, weights bool
	wake        bool
	undoes      *nap // with wake: the only one that ends, so that it goes on sleeping where others let it
	answer      chan error

	over   bool // it was undone
	moving bool // the executor is at it
}

// rested says what became of the oldest nap.
type rested struct{ err error }

func (*nap) ControlMessage()    {}
func (*rested) ControlMessage() {}

// sleeps is what the executor has given back.
type sleeps struct{ kv, weights bool }

func (s sleeps) any() bool { return s.kv || s.weights }

// nap puts a request to sleep or wake in line.
func (a *supervisor) nap(c actor.Context, m *nap) {
	if err := a.cannotPause(); err != nil && !m.wake {
		m.answer <- err
		return
	}
	if m.undoes != nil {
		m.undoes.over = true
	}
	a.naps = append(a.naps, m)
	if len(a.naps) == 1 {
		a.nextNap(c)
	}
}

// nextNap begins what is the oldest now: a sleep pauses first.
func (a *supervisor) nextNap(c actor.Context) {
	for len(a.naps) > 0 {
		m := a.naps[0]
		switch {
		case m.over, m.wake && !a.asleep.any(), m.undoes != nil && a.sleepsOn():
			m.answer <- nil
			a.naps = slices.Delete(a.naps, 0, 1)
		case m.wake:
			a.move(c, m)
			return
		default:
			if a.holders.find(nil) == nil {
				a.holders = append(a.holders, &holder{})
			}
			a.command(c)
			return
		}
	}
}

// sleepsOn tells that something sleeps for somebody who has not undone it.
func (a *supervisor) sleepsOn() bool {
	return slices.ContainsFunc(a.slept, func(n *nap) bool { return !n.over })
}

// settle goes on with a sleep, now that no step runs.
func (a *supervisor) settle(c actor.Context) {
	if len(a.naps) > 0 && a.still && !a.naps[0].moving && !a.naps[0].wake {
		a.move(c, a.naps[0])
	}
}

// cancelNaps refuses sleeps that have not begun: a hard stop comes first. What sleeps
// already does so until it is woken, by who waits behind such sleeps or by others.
func (a *supervisor) cancelNaps(c actor.Context) {
	kept := a.naps[:0]
	for _, m := range a.naps {
		if m.moving || m.wake {
			kept = append(kept, m)
		} else {
			m.answer <- ErrStopping
		}
	}
	a.naps = kept
	if len(a.naps) > 0 && a.naps[0].moving {
		return // rested goes on
	}
	if !a.asleep.any() {
		a.wokenUp()
	}
	a.nextNap(c)
}

// wokenUp ends the pause of who slept.
func (a *supervisor) wokenUp() {
	a.holders = slices.DeleteFunc(a.holders, func(o *holder) bool { return o.hold == nil })
}

// move lets the executor sleep or wake.
func (a *supervisor) move(c actor.Context, m *nap) {
	m.moving = true
	c.Send(a.executor, m)
}

// rested takes note that the executor sleeps or is awake.
func (a *supervisor) rested(c actor.Context, err error) {
	m := a.naps[0]
	a.naps = slices.Delete(a.naps, 0, 1)
	before := a.asleep
	switch {
	case err != nil:
		a.log.Error().Err(err).Bool("wake", m.wake).Msg("sleep")
	case m.wake:
		a.asleep, a.slept = sleeps{}, nil
	default:
		a.slept = append(a.slept, m)
		a.asleep = sleeps{kv: before.kv || m.kv, weights: before.weights || m.weights}
	}
	if !a.asleep.any() {
		a.wokenUp()
	}
	a.command(c)
	m.answer <- err
	a.nextNap(c)
}

// sleeper moves an executor, on a goroutine of its own: to take memory again may take
// as long as to make the weights ready.
func (a *executorActor) nap(c actor.Context, m *nap) {
	root, sleeper := c.ActorSystem().Root, a.ex.(executor.Sleeper)
	a.moves.Add(1)
	go func() {
		defer a.moves.Done()
		var err error
		if m.wake {
			err = sleeper.Wake()
		} else {
			err = sleeper.Sleep(m.kv, m.weights)
		}
		root.Send(a.supervisor, &rested{err})
	}()
}
