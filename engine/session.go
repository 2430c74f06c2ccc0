package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
)

// session is the actors with their executor. One that is kept is used again by the
// next Start.
type session struct {
	system *actors.System
	ex     executor.Executor
	freed  chan struct{} // closed when it has ended and its memory is given back

	adapters *adapters // of its executor
}

// begin starts the actors over an executor; before is the session whose trace is
// gone on with. life is held, but by Spawn.
func (e *Engine) begin(ex executor.Executor, before *session) {
	o := e.options
	o.Executor = ex
	if before != nil {
		o.After = before.system
	}
	s := &session{system: actors.Start(o), ex: ex, freed: make(chan struct{}), adapters: newAdapters(ex)}
	e.session.Store(s)
	go func() {
		defer close(s.freed)
		<-s.system.Done()
		if err := s.system.Free(); err != nil {
			o.Log.Error().Err(err).Msg("free the executor")
		}
	}()
}

// atRest tells that the session has ended.
func (s *session) atRest() bool {
	select {
	case <-s.system.AtRest():
		return true
	case <-s.system.Done():
		return true
	default:
		return false
	}
}

// StopOptions says how to stop.
type StopOptions struct {
	Hard  bool // do not wait for open requests: they end as failed with what they have
	Keep  bool // keep the executor and the cache with its shared blocks, for the next Start
	Async bool // do not wait for the end
}

// Stop ends the session: nothing new is accepted, and what was completes first,
// after the end of a pause if there is one, unless Hard. Then the memory of the cache and of packed weights is given back,
// unless Keep, or the executor was passed in. The weights as they are stored stay
// until Close. Of several stops the hardest counts, and of those that keep the one
// that does not, also where the session has ended already. When ctx ends first the
// engine goes on stopping, also if ctx had ended before.
//
// Stop answers nil where nothing runs, and how the session has crashed if it has.
func (e *Engine) Stop(ctx context.Context, o StopOptions) error {
	keep := o.Keep || e.maker == nil
	// Once before it waits for others: who changes the weights may take long, and the
	// session shall end meanwhile. Once behind them: a Start may have begun a session
	// that has not heard of it.
	e.session.Load().system.Stop(o.Hard, keep)
	if err := e.alone(ctx); err != nil {
		return err
	}
	s := e.session.Load()
	s.system.Stop(o.Hard, keep)
	rest := s.system.AtRest()
	e.others()
	if o.Async {
		return nil
	}
	if !keep {
		rest = nil
	}
	return s.wait(ctx, rest)
}

// Join waits until no session is under way, without ending it. It answers how the
// session has crashed if it has.
func (e *Engine) Join(ctx context.Context) error {
	if e.closed.Load() {
		return ErrClosed
	}
	s := e.session.Load()
	return s.wait(ctx, s.system.AtRest())
}

// wait waits until the session has ended for good, or at rest.
func (s *session) wait(ctx context.Context, rest <-chan struct{}) error {
	select {
	case <-rest:
		return nil
	case <-s.freed:
		return s.system.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Running tells that a session is under way: requests are taken, or completed while
// it stops.
func (e *Engine) Running() bool { return !e.closed.Load() && !e.session.Load().atRest() }

// Start begins a session with the configuration of Spawn, asleep if what was kept is: with the cache of the last
// one if that was kept, else with a new executor, also after a crash. It does nothing
// where a session runs, and waits for one that stops. An executor that was passed in
// cannot be made again: after a crash Start answers ErrCrashed. Weights that are broken
// are an ErrBroken.
func (e *Engine) Start(ctx context.Context) error {
	for {
		if err := e.alone(ctx); err != nil {
			return err
		}
		if e.broken.Load() {
			e.others()
			return fmt.Errorf("start: %w", errSendWeights)
		}
		if err := e.ready(); err != nil {
			e.others()
			return fmt.Errorf("start: %w", err)
		}
		s := e.session.Load()
		running, ending := s.system.Resume()
		rest := s.system.AtRest()
		if ending {
			rest = nil
		}
		var err error
		select {
		case <-s.freed:
			running, err = true, e.again(ctx, s)
		default:
		}
		e.others()
		if running {
			return err
		}
		select {
		case <-rest: // it has stopped: try again
		case <-s.freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// again begins a session with a new executor.
func (e *Engine) again(ctx context.Context, before *session) error {
	if e.maker == nil {
		return fmt.Errorf("%w: the executor that was passed in cannot be made again: spawn another engine: %w", ErrNotRunning, before.system.Err())
	}
	if e.store != nil {
		e.dropAll()
		if err := e.use(e.maker.weights.Epoch); err != nil {
			return err
		}
	}
	ex, err := e.maker.next(ctx)
	if err != nil {
		return err
	}
	e.begin(ex, before)
	return nil
}

// alone lets nobody else begin and end sessions, until others does.
func (e *Engine) alone(ctx context.Context) error {
	select {
	case e.life <- struct{}{}: // whatever ctx is, if nobody has it
	default:
		select {
		case e.life <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("another call begins or ends a session: %w", ctx.Err())
		}
	}
	if e.closed.Load() {
		e.others()
		return ErrClosed
	}
	return nil
}

func (e *Engine) others() { <-e.life }

// patience is how long who gives something back waits for those who have life.
var patience = 10 * time.Second

// later does fn alone as soon as it may, and waits for that for some time.
func (e *Engine) later(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.life <- struct{}{}
		defer e.others()
		fn()
	}()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// ended says why requests are not taken, once the actors of a session are gone.
func (e *Engine) ended(s *session) error {
	if e.closed.Load() {
		return ErrClosed
	}
	if err := s.system.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	return ErrNotRunning
}
