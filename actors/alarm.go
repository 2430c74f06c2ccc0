package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// alarm sends its actor a ring at a time. It has one timer, however many wait for
// it: when the nearest time goes further away it rings early, and is set again.
type alarm struct {
	timer *time.Timer
	at    time.Time // it rings then; zero: it does not
}

// ring says that an alarm has rung.
type ring struct{}

// set lets it ring at a time at the latest; the zero time asks for nothing.
func (a *alarm) set(c actor.Context, at time.Time) {
	if at.IsZero() || !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.at = at
	if a.timer != nil {
		a.timer.Reset(time.Until(at))
		return
	}
	root, self := c.ActorSystem().Root, c.Self()
	a.timer = time.AfterFunc(time.Until(at), func() { root.Send(self, ring{}) })
}

// rang takes note of a ring. It may have been on its way when the alarm was set anew.
func (a *alarm) rang() { a.at = time.Time{} }

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
