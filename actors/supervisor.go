package actors

import (
	"cmp"
	"fmt"
	"sync/atomic"

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
	rest    func(bool)  // called when a session has ended and is kept, with its last step, and when the next one begins
	closing func(error) // called last, with why; nil: it was asked to stop

	number  uint64        // of the last command
	mode    messages.Mode // of it
	session messages.Mode // running, draining, halting or stopped: the mode but for pauses
	err     error
	keep    bool // what stops is kept for another session
	resting bool // it has stopped, and no step of it runs
	going   bool // its own stop is on the way

	holders holders // of a pause
	still   bool    // no step runs for the last command, but for holders
	alarm   alarm   // when a lease ends
	naps    []*nap  // asked for, the oldest under way
	asleep  sleeps
	slept   []*nap                 // that succeeded since it was awake
	state   *atomic.Pointer[State] // for others to see
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
	case *takeHold:
		a.take(c, m)
	case *leaveHold:
		a.release(c, m)
	case *renewHold:
		a.renew(c, m)
	case ring:
		a.expire(c)
	case *messages.Paused:
		a.paused(c, m)
	case *nap:
		a.nap(c, m)
	case *rested:
		a.rested(c, m.err)
	case *obey:
		close(m.done)
	case *resume:
		m.answer <- a.resume(c) // has room for one: never waits
	case *fatal:
		a.fail(c, m)
	case *actor.Terminated:
		a.fail(c, &fatal{m.Who.Id, fmt.Errorf("it ended unasked")})
	case *actor.Stopped: // the children are dead, so the table is ours
		why := cmp.Or(a.err, ErrStopped)
		a.table.failAll(why)
		a.alarm.stop()
		a.dropAll(why)
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
	a.session = messages.Mode_MODE_RUNNING
	a.command(c)
	a.started(p)
}

// command tells intake and scheduler, on the control lane, what is in force now.
func (a *supervisor) command(c actor.Context) {
	m := &messages.SetMode{Mode: a.session}
	if a.session == messages.Mode_MODE_RUNNING || a.session == messages.Mode_MODE_DRAINING {
		a.holders.order(m)
		m.Empty = m.Shut && len(a.naps) > 0 && a.naps[0].kv // what sleeps already stays empty
	}
	a.number++
	m.Number = a.number
	a.still, a.mode = false, m.Mode
	a.log.Info().Str("mode", modeName(a.mode)).Msg("mode")
	for _, child := range []*actor.PID{a.intake, a.scheduler} {
		c.Send(child, m)
	}
	a.publish()
}

// stop drains, or halts; a hard stop may follow a soft one. One that drains waits for
// the end of a pause, one that halts ends it. The cache is kept if all stops of a
// session want it.
func (a *supervisor) stop(c actor.Context, hard, keep bool) {
	if a.session == messages.Mode_MODE_STOPPED {
		if !keep {
			a.leave(c)
		}
		return
	}
	a.keep = keep && (a.keep || a.session == messages.Mode_MODE_RUNNING)
	switch {
	case hard && a.session != messages.Mode_MODE_HALTING:
		a.session = messages.Mode_MODE_HALTING
		a.dropAll(ErrStopped)
		a.cancelNaps(c)
		a.command(c)
	case !hard && a.session == messages.Mode_MODE_RUNNING:
		a.session = messages.Mode_MODE_DRAINING
		a.command(c)
	}
}

// drained ends the session that the last command was to end. It rests once the step is
// done that may run for nobody any more: see paused.
func (a *supervisor) drained(c actor.Context, m *messages.Drained) {
	switch {
	case m.Number != a.number || a.going: // of a session before, or of no more interest
	case a.keep:
		a.session = messages.Mode_MODE_STOPPED
		a.command(c)
	default:
		a.leave(c)
	}
}

// resume begins another session if the last one rests, and tells how it is. One
// that was asleep is so still.
func (a *supervisor) resume(c actor.Context) resumed {
	if a.resting && !a.going {
		a.resting = false
		a.rest(false)
		a.session = messages.Mode_MODE_RUNNING
		a.command(c)
	}
	return resumed{running: a.session == messages.Mode_MODE_RUNNING && !a.going, ending: a.going}
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
