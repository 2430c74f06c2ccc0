package actors

import (
	"errors"
	"io"
	"log/slog"
	"sync"
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
	Executor executor.Executor // belongs to the System from now on
	Sched    sched.Config
	Limits   Limits
	Key      uint64 // of the prefix cache's hashes
	Log      zerolog.Logger

	// Trace, if set, is written what happens to each request, and closed when the
	// System has ended. See package trace.
	Trace io.WriteCloser
}

// System is a running set of actors, seen from outside.
type System struct {
	peers
	sys       *actor.ActorSystem
	ex        executor.Executor
	trace     *tracer
	collected chan struct{}
	done      chan struct{}
	err       error // why, once done is closed
	closing   sync.Once
}

// Start spawns the actors. The engine is running when it returns.
func Start(o Options) *System {
	s := &System{
		sys: actor.NewActorSystem(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return obs.Slog(o.Log) }),
			actor.WithDeadLetterThrottleInterval(deadLetterPause)),
		ex:        o.Executor,
		collected: make(chan struct{}),
		done:      make(chan struct{}),
		trace:     newTracer(o),
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
		p.executor = name("executor", &executorActor{ex: o.Executor, results: results, ended: s.collected})
		p.blocks = name("blocks", &blocks{core: blockmgr.New(books)})
		p.swap = name("swap", &swap{core: blockmgr.NewHost(hostOf)})
		p.scheduler = name("scheduler", &scheduler{core: sched.New(o.Sched), tokens: tokens, trace: s.trace})
		p.intake = name("intake", &intake{table: open, limits: o.Limits, tokens: tokens, log: o.Log})
		return p
	}
	s.sys.Root.SpawnPrefix(props(&supervisor{spawn: spawn, table: open, log: o.Log,
		started: func(p peers) {
			s.peers = p
			close(started)
		},
		closing: func(err error) {
			s.err = err
			s.trace.finish()
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

// Stop begins to end the System: hard, when the steps handed over are done; else
// when all that was accepted is.
func (s *System) Stop(hard bool) { s.sys.Root.Send(s.supervisor, &messages.Stop{Hard: hard}) }

// Done is closed when all actors have ended and every request has.
func (s *System) Done() <-chan struct{} { return s.done }

// Err says why the System ended, once Done is closed: nil when it was asked to.
func (s *System) Err() error { return s.err }

// closeTimeout is how long Close waits for a step that runs.
var closeTimeout = 30 * time.Second

// Close waits for Done and frees the executor. A step that does not end within 30 s
// is given up: what is open fails, and Close answers ErrStuck. It is safe twice.
func (s *System) Close() error {
	stuck := false
	select {
	case <-s.done:
	case <-time.After(closeTimeout):
		stuck = true
		s.sys.Root.Send(s.supervisor, &fatal{"executor", ErrStuck})
		<-s.done
	}
	var err error
	s.closing.Do(func() {
		err = s.ex.Close()
		if stuck {
			err = errors.Join(err, ErrStuck)
		} else {
			<-s.collected
		}
		err = errors.Join(err, s.trace.wait())
		s.sys.Shutdown()
	})
	return err
}
