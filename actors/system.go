package actors

import (
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/lane"
	"github.com/cbactor/cbactor/internal/obs"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sched"
)

// deadLetterPause is short, since a goroutine of the library sleeps that long
// after a message to an actor that has ended, as any late Cancel is.
const deadLetterPause = 20 * time.Millisecond

// Options says what to start.
type Options struct {
	Executor executor.Executor // belongs to the System from now on, until Free closes it
	Sched    sched.Config
	Limits   Limits
	Key      uint64 // of the prefix cache's hashes
	Log      zerolog.Logger

	// Trace, if set, is written what happens to each request, and closed by Close.
	// See package trace. After is a System that has ended, whose trace this one goes
	// on with instead.
	Trace io.WriteCloser
	After *System
}

// System is a running set of actors, seen from outside.
type System struct {
	peers
	sys       *actor.ActorSystem
	ex        executor.Executor
	limits    Limits
	trace     *tracer
	collected chan struct{}
	moves     sync.WaitGroup // sleeps and wakes of the executor
	state     atomic.Pointer[State]
	done      chan struct{}
	err       error // why, once done is closed
	freeing   sync.Once
	freed     error // what went wrong with that

	mu   sync.Mutex
	rest chan struct{} // closed: a session has ended, and no other one has begun
}

// Start spawns the actors. The engine is running when it returns.
func Start(o Options) *System {
	s := &System{
		sys: actor.NewActorSystem(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return obs.Slog(o.Log) }),
			actor.WithDeadLetterThrottleInterval(deadLetterPause)),
		ex:        o.Executor,
		limits:    o.Limits,
		collected: make(chan struct{}),
		done:      make(chan struct{}),
		rest:      make(chan struct{}),
	}
	if o.After != nil {
		s.trace = o.After.trace
		o.After = nil // so that systems do not keep each other
	} else {
		s.trace = newTracer(o)
	}
	info := o.Executor.Info()
	books := cache(info, o.Sched.MaxTokens)
	books.Slots, books.Sharing, books.Key = o.Sched.MaxSlots, o.Sched.Sharing, o.Key
	hostOf := make([]int, len(info.Groups))
	for g := range info.Groups {
		hostOf[g] = info.Groups[g].Host
	}
	var (
		open    = newTable(s.trace)
		results = new(resultPool)
		tokens  = &tokenPool{results: results}
		started = make(chan struct{})
	)
	props := func(a actor.Actor) *actor.Props {
		return actor.PropsFromProducer(func() actor.Actor { return a }, actor.WithMailbox(lane.Wrap(actor.Unbounded())))
	}
	spawn := func(c actor.Context) (p peers) {
		name := func(n string, a actor.Actor) *actor.PID {
			return c.SpawnPrefix(props(a), n)
		}
		p.executor = name("executor", &executorActor{ex: o.Executor, results: results, ended: s.collected, moves: &s.moves})
		p.blocks = name("blocks", &blocks{core: blockmgr.New(books)})
		p.swap = name("swap", &swap{core: blockmgr.NewHost(hostOf)})
		p.scheduler = name("scheduler", &scheduler{core: sched.New(o.Sched), tokens: tokens, trace: s.trace})
		p.intake = name("intake", &intake{table: open, limits: o.Limits, tokens: tokens, log: o.Log})
		return p
	}
	s.sys.Root.SpawnPrefix(props(&supervisor{spawn: spawn, table: open, log: o.Log, state: &s.state,
		started: func(p peers) {
			s.peers = p
			close(started)
		},
		rest: s.setRest,
		closing: func(err error) {
			s.err = err
			close(s.done)
		}}), "supervisor")
	<-started // every child knows the others now, before any message from outside
	return s
}

// Submit sends a request to intake, which answers on its Reply unless the System ends first.
func (s *System) Submit(m *Submit) { s.sys.Root.Send(s.intake, m) }

// Cancel ends a request, wherever it is; with a sink only if it is that sink's.
func (s *System) Cancel(id string, sink Sink) {
	s.sys.Root.Send(s.intake, &Cancel{ID: id, Sink: sink})
}

// Check says why a request can never be accepted, without submitting it; nil: it may be.
func (s *System) Check(m *Submit) error {
	_, err := s.limits.admit(m, 0)
	return err
}

// Stop begins to end the session: hard, when the steps handed over are done; else
// when all that was accepted is. Then the System ends, but for one that all stops of
// the session want to keep: that rests until Resume, or until a Stop without keep.
func (s *System) Stop(hard, keep bool) {
	s.sys.Root.Send(s.supervisor, &messages.Stop{Hard: hard, Keep: keep})
}

// Resume begins another session of a System at rest, with the cache of the last one.
// It tells whether a session runs, this one or one before, that no Stop ends; or else
// that the System ends, so that none ever will.
func (s *System) Resume() (running, ending bool) {
	answer := make(chan resumed, 1)
	s.sys.Root.Send(s.supervisor, &resume{answer})
	select {
	case a := <-answer:
		return a.running, a.ending
	case <-s.done:
		return false, true
	}
}

// AtRest is closed when the session that is under way has ended and is kept: every
// request of it has ended. If none is under way it is closed already.
func (s *System) AtRest() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rest
}

// setRest notes that a session has ended or that the next one begins.
func (s *System) setRest(rest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest {
		close(s.rest)
	} else {
		s.rest = make(chan struct{})
	}
}

// Done is closed when all actors have ended and every request has.
func (s *System) Done() <-chan struct{} { return s.done }

// Err says why the System ended, once Done is closed: nil when it was asked to.
func (s *System) Err() error { return s.err }

// closeTimeout is how long Free waits for a step that runs.
var closeTimeout = 30 * time.Second

// Free waits for Done and closes the executor. A step that does not end within 30 s
// is given up: what is open fails, and Free answers ErrStuck. It is safe twice, at
// the same time too.
func (s *System) Free() error {
	select {
	case <-s.done:
	case <-time.After(closeTimeout):
		s.sys.Root.Send(s.supervisor, &fatal{"executor", ErrStuck})
		<-s.done
	}
	s.freeing.Do(func() {
		s.freed = s.ex.Close()
		stuck := errors.Is(s.err, ErrStuck)
		if !stuck {
			select {
			case <-s.idle():
			case <-time.After(closeTimeout): // a step that runs beside a crash
				stuck = true
			}
		}
		if stuck {
			s.freed = errors.Join(s.freed, ErrStuck)
		}
		s.sys.Shutdown()
	})
	return s.freed
}

// idle is closed when nobody uses the executor any more, once it is closed.
func (s *System) idle() <-chan struct{} {
	idle := make(chan struct{})
	go func() {
		<-s.collected
		s.moves.Wait()
		close(idle)
	}()
	return idle
}

// Close frees the executor, and ends the trace. It is safe twice.
func (s *System) Close() error {
	err := s.Free()
	s.trace.finish()
	return errors.Join(err, s.trace.wait())
}
