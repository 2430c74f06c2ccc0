package actors

import (
	"errors"
	"io"
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

// Options says what to start.
type Options struct {
	Executor executor.Executor // belongs to the System from now on, until Free closes it
	Sched    sched.Config
	Limits   Limits
	Key      uint64 // of the prefix cache's hashes
	Log      zerolog.Logger
	Meter    *Meter // nil: nobody reads one

	// Trace, if set, is written what happens to each request, and closed by Close.
	// See package trace. Version, if set, names the weights of an epoch there. After is
	// a System that has ended, whose trace this one goes on with instead.
	Trace   io.WriteCloser
	Version func(epoch uint32) string
	After   *System
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
		sys:       obs.System(o.Log),
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
	if o.Meter == nil {
		o.Meter = new(Meter)
	}
	open, started := newTable(s.trace, o.Meter), make(chan struct{})
	s.sys.Root.SpawnPrefix(props(&supervisor{spawn: s.children(o, open), table: open, log: o.Log, state: &s.state,
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

// children is what spawns the actors that the supervisor watches.
func (s *System) children(o Options, open *table) func(actor.Context) peers {
	info := o.Executor.Info()
	books := cache(info, o.Sched.MaxTokens)
	books.Slots, books.Sharing, books.Key = o.Sched.MaxSlots, o.Sched.Sharing, o.Key
	hostOf := make([]int, len(info.Groups))
	for g := range info.Groups {
		hostOf[g] = info.Groups[g].Host
	}
	o.Meter.begin(info.CacheBlocks(), o.Sched.Host)
	results := new(resultPool)
	tokens := &tokenPool{results: results}
	return func(c actor.Context) (p peers) {
		p.executor = c.SpawnPrefix(props(&executorActor{ex: o.Executor, results: results, ended: s.collected, moves: &s.moves}), "executor")
		p.blocks = c.SpawnPrefix(props(&blocks{core: blockmgr.New(books)}), "blocks")
		p.swap = c.SpawnPrefix(props(&swap{core: blockmgr.NewHost(hostOf), meter: o.Meter}), "swap")
		p.scheduler = c.SpawnPrefix(props(&scheduler{core: sched.New(o.Sched), tokens: tokens, trace: s.trace, meter: o.Meter}), "scheduler")
		p.intake = c.SpawnPrefix(props(&intake{table: open, limits: o.Limits, tokens: tokens, log: o.Log}), "intake")
		return p
	}
}

func props(a actor.Actor) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return a }, actor.WithMailbox(lane.Wrap(actor.Unbounded())))
}

// Submit checks a request and sends it to intake. Its Reply gets an answer unless the
// System ends first.
func (s *System) Submit(m *Submit) {
	if err := s.Check(m); err != nil {
		m.Reply <- err // has room for one: never waits
		return
	}
	s.sys.Root.Send(s.intake, m)
}

// UnloadAdapter frees an adapter's place behind its last user. Done is called unless the
// System ends first.
func (s *System) UnloadAdapter(m *UnloadAdapter) { s.sys.Root.Send(s.intake, m) }

// Cancel ends a request, wherever it is; with a sink only if it is that sink's.
func (s *System) Cancel(id string, sink Sink) {
	s.sys.Root.Send(s.intake, &Cancel{ID: id, Sink: sink})
}

// Check says why a request can never be accepted, without submitting it; nil: it may
// be. It makes the request's matchers. Submit does not check it again.
func (s *System) Check(m *Submit) error {
	if m.form != nil {
		return nil
	}
	form, err := s.limits.admit(m)
	if err != nil {
		return err
	}
	if m.matchers, err = newMatchers(m.Stop, m.sequences()); err != nil {
		return err
	}
	m.form = form
	return nil
}

// Stop begins to end the session: hard, when the steps handed over are done; else
// when all that was accepted is. Then the System ends, but for one that all stops of
// the session want to keep: that rests until Resume, or until a Stop without keep. When
// it returns, what is submitted after is refused.
func (s *System) Stop(hard, keep bool) {
	s.sys.Root.Send(s.supervisor, &messages.Stop{Hard: hard, Keep: keep})
	obeyed := make(chan struct{})
	s.sys.Root.Send(s.supervisor, &obey{obeyed})
	select {
	case <-obeyed: // intake has its command, which overtakes all requests
	case <-s.done:
	}
}

// Resume begins another session of a System at rest, with the cache of the last one.
// It tells whether a session runs, this one or one before, that no Stop ends; or else
// that the System ends, so that none ever will. One that is not at rest yet may be
// asked again when it is.
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
// request of it has ended, and no step runs. If none is under way it is closed already.
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
// is given up: what is open fails, and Free answers ErrStuck. So it does where an actor
// does not end within as long again, since a Matcher blocks in it: then what is open
// fails once that returns. It is safe twice, at the same time too.
func (s *System) Free() error {
	ended := s.ends(closeTimeout)
	if !ended {
		s.sys.Root.Send(s.supervisor, &fatal{"executor", ErrStuck})
		ended = s.ends(closeTimeout)
	}
	s.freeing.Do(func() { s.freed = s.free(ended) })
	return s.freed
}

// ends waits for Done, for so long at most, and tells whether it came.
func (s *System) ends(within time.Duration) bool {
	select {
	case <-s.done:
		return true
	case <-time.After(within):
		return false
	}
}

// free closes the executor. ended says that all actors have ended.
func (s *System) free(ended bool) error {
	err := s.ex.Close()
	if !ended {
		return errors.Join(err, ErrStuck)
	}
	stuck := errors.Is(s.err, ErrStuck)
	if !stuck {
		select {
		case <-s.idle():
		case <-time.After(closeTimeout): // a step that runs beside a crash
			stuck = true
		}
	}
	if stuck {
		err = errors.Join(err, ErrStuck)
	}
	s.sys.Shutdown()
	return err
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
