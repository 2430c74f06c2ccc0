package actors

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/messages"
)

// supervisor spawns the others and owns the mode. Any of them dying unasked ends
// the engine; nothing is restarted, since a restart would lose what a core knew.
//
// Concurrency: single goroutine. It may touch the table only once intake is dead.
type supervisor struct {
	peers
	spawn   func(actor.Context) peers // spawns the children
	started func(peers)               // called when they know each other
	table   *table
	log     zerolog.Logger
	rest    func(bool)  // called when a session has ended and is kept, and when the next one begins
	closing func(error) // called last, with why; nil: it was asked to stop

	number uint64 // of the last command
	mode   messages.Mode
	err    error
	keep   bool // what stops is kept for another session
	going  bool // its own stop is on the way
}

func (a *supervisor) Receive(c actor.Context) {
	defer func() { // nobody supervises the supervisor
		if r := recover(); r != nil {
			a.fail(c, &fatal{"supervisor", fmt.Errorf("panic: %v", r)})
		}
	}()
	switch m := c.Message().(type) {
	case *actor.Started:
		a.start(c)
	case *messages.Stop:
		a.stop(c, m.Hard, m.Keep)
	case *messages.Drained:
		a.drained(c, m)
	case *resume:
		m.answer <- a.resume(c) // has room for one: never waits
	case *fatal:
		a.fail(c, m)
	case *actor.Terminated:
		a.fail(c, &fatal{m.Who.Id, fmt.Errorf("it ended unasked")})
	case *actor.Stopped: // the children are dead, so the table is ours
		if a.err != nil {
			a.table.failAll(a.err)
		} else {
			a.table.failAll(ErrStopped)
		}
		a.closing(a.err)
	}
}

// start spawns the children, tells them of each other, and lets them run: they are born paused.
func (a *supervisor) start(c actor.Context) {
	a.peers = a.spawn(c)
	a.supervisor = c.Self()
	p := a.peers
	for _, child := range c.Children() {
		c.Send(child, &p)
	}
	a.command(c, messages.Mode_MODE_RUNNING)
	a.started(p)
}

// command sets the mode and tells intake and scheduler on the control lane.
func (a *supervisor) command(c actor.Context, mode messages.Mode) {
	a.number++
	a.mode = mode
	a.log.Info().Stringer("mode", mode).Uint64("command", a.number).Msg("mode")
	for _, child := range []*actor.PID{a.intake, a.scheduler} {
		c.Send(child, &messages.SetMode{Number: a.number, Mode: mode})
	}
}

// stop drains, or halts; a hard stop may follow a soft one. The cache is kept if all
// stops of a session want it.
func (a *supervisor) stop(c actor.Context, hard, keep bool) {
	if a.mode == messages.Mode_MODE_STOPPED {
		if !keep {
			a.leave(c)
		}
		return
	}
	a.keep = keep && (a.keep || a.mode < messages.Mode_MODE_DRAINING)
	switch {
	case hard && a.mode != messages.Mode_MODE_HALTING:
		a.command(c, messages.Mode_MODE_HALTING)
	case !hard && a.mode < messages.Mode_MODE_DRAINING:
		a.command(c, messages.Mode_MODE_DRAINING)
	}
}

// drained ends the session that the last command was to end.
func (a *supervisor) drained(c actor.Context, m *messages.Drained) {
	switch {
	case m.Number != a.number || a.going: // of a session before, or of no more interest
	case a.keep:
		a.command(c, messages.Mode_MODE_STOPPED)
		a.rest(true)
	default:
		a.leave(c)
	}
}

// resume begins another session if the last one has ended, and tells how it is.
func (a *supervisor) resume(c actor.Context) resumed {
	if a.mode == messages.Mode_MODE_STOPPED && !a.going {
		a.rest(false)
		a.command(c, messages.Mode_MODE_RUNNING)
	}
	return resumed{running: a.mode == messages.Mode_MODE_RUNNING && !a.going, ending: a.going}
}

func (a *supervisor) fail(c actor.Context, f *fatal) {
	if a.going {
		return
	}
	a.err = fmt.Errorf("%w: %s: %w", ErrCrashed, f.who, f.err)
	a.log.Error().Err(a.err).Msg("engine ends")
	a.leave(c)
}

func (a *supervisor) leave(c actor.Context) {
	if !a.going {
		a.going = true
		c.Stop(c.Self())
	}
}

// HandleFailure is protoactor's call when a child panicked: the child dies, which Terminated reports.
func (a *supervisor) HandleFailure(sys *actor.ActorSystem, s actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	sys.Root.Send(a.supervisor, &fatal{child.Id, fmt.Errorf("panic: %v", reason)})
	s.StopChildren(child)
}
