package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
	"github.com/cbactor/cbactor/weights"
)

// changeWeights lets the caller alone change the weights, until others. Sessions
// neither begin nor end meanwhile, but for crashes.
func (e *Engine) changeWeights(ctx context.Context) error {
	err := e.alone(ctx)
	if err != nil {
		return err
	}
	if err = e.openStore(); err != nil {
		e.others()
	}
	return err
}

// openStore makes the store of weight sets when it is first needed, and lets it know
// which of them an executor has. One that is gone has none.
func (e *Engine) openStore() (err error) {
	if e.maker == nil {
		return ErrNoWeights
	}
	if e.store == nil {
		if e.store, err = weights.NewStore(e.model, e.maker.weights, e.updates); err != nil {
			return err
		}
		if err := e.use(e.maker.weights.Epoch); err != nil {
			return err
		}
	}
	if s := e.session.Load(); s.ended() {
		<-s.freed // a wake that was under way has read them till then
		e.dropAll()
	}
	return nil
}

// use notes that the executor has the set of an epoch.
func (e *Engine) use(epoch uint32) error {
	if _, err := e.store.Use(epoch); err != nil {
		return err
	}
	e.loaded = append(e.loaded, epoch)
	return nil
}

// dropAll notes that the executor has no sets.
func (e *Engine) dropAll() {
	for _, epoch := range e.loaded {
		e.log(e.store.Done(epoch))
	}
	e.loaded = nil
}

// install lets a set compute that the store has made current. An error means that
// nothing computes with it, unless it is ErrCommitted. ctx is looked at until the set is
// ready and the scheduler is told.
func (e *Engine) install(ctx context.Context, set *weights.Set, kv KVPolicy) error {
	return e.awake(e.exchangeFor(ctx, set, kv))
}

// exchangeFor is install without what ends its exchange.
func (e *Engine) exchangeFor(ctx context.Context, set *weights.Set, kv KVPolicy) error {
	ctx, cancel := e.untilClosed(ctx)
	defer cancel()
	c, s := e.commitOf(set, kv), e.session.Load()
	if !s.ended() {
		err := e.load(ctx, s, set)
		if errors.Is(err, executor.ErrFull) { // of one that is kept no more
			e.dropOld()
			err = e.load(ctx, s, set)
		}
		switch {
		case errors.Is(err, executor.ErrFull):
			err = e.exchange(ctx, s, func() error { return e.replace(ctx, s, set, c) })
		case err == nil:
			err = e.commit(s, c)
		}
		if err != nil && !errors.Is(err, executor.ErrClosed) { // closed: the session has ended meanwhile, the next one has them
			return err
		}
	}
	e.installed(set, c)
	return nil
}

// commitOf is the commit of a set, before anything is computed with it.
func (e *Engine) commitOf(set *weights.Set, kv KVPolicy) sched.Commit {
	e.recording.weights(set, "")
	return sched.Commit{Epoch: set.Epoch, Version: e.versions.name(set.Epoch, set.Version), KV: kv}
}

// installed notes that a set computes, and no other one but the kept.
func (e *Engine) installed(set *weights.Set, c sched.Commit) {
	e.broken.Store(false)
	e.begins(set, c.Version)
	e.noticeSent(set)
	e.store.Confirm()
	e.dropOld()
	e.versions.serve(c.Version, set.Version, e.store.Retained())
}

// begins notes what the next new executor begins with.
func (e *Engine) begins(set *weights.Set, version uint32) {
	e.maker.weights = set
	e.options.Sched.Epoch, e.options.Sched.Version = set.Epoch, version
}

// commit lets a session plan with a set that is loaded. It waits for steps that run,
// not for the caller's context: then it is known what computes. A session that ends
// meanwhile has no weights.
func (e *Engine) commit(s *session, c sched.Commit) error {
	if err := s.system.Commit(e.closing, c); !errors.Is(err, actors.ErrClosed) {
		return err
	}
	return nil
}

// untilClosed is ctx until Close.
func (e *Engine) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.closing, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// load makes a set ready in the session's executor.
func (e *Engine) load(ctx context.Context, s *session, set *weights.Set) error {
	loader, ok := s.ex.(executor.Loader)
	if !ok {
		return fmt.Errorf("%w: %w: %s takes no other weights", ErrNoWeights, executor.ErrUnsupported, s.ex.Info().Name)
	}
	if err := e.use(set.Epoch); err != nil {
		return err
	}
	if err := loader.Load(ctx, set); err != nil {
		e.unuse(set.Epoch)
		return err
	}
	return nil
}

// exchange runs fn while nothing computes and the executor has no set. Weights sleep
// meanwhile, until awake: requests keep their places and their cache. At rest nothing
// computes anyway. ctx is looked at until then.
func (e *Engine) exchange(ctx context.Context, s *session, fn func() error) error {
	wake, err := s.system.SleepWeights(ctx)
	switch {
	case err == nil:
		e.naps = append(e.naps, wake)
	case errors.Is(err, ErrNotRunning), errors.Is(err, ErrStopping):
		if err := s.wait(ctx, s.system.AtRest()); err != nil && !s.ended() {
			return err
		}
	default:
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, epoch := range slices.Clone(e.loaded) {
		e.drop(epoch)
	}
	return fn()
}

// awake ends what exchange has begun, and adds to err, which says what came of it, where
// nothing computes from then on.
func (e *Engine) awake(err error) error {
	asleep := e.wake()
	switch {
	case asleep == nil:
		return err
	case err == nil:
		return fmt.Errorf("%w: %w", ErrCommitted, asleep)
	}
	return fmt.Errorf("%w; weights sleep on: %w", err, asleep)
}

// wake makes ready what serves and ends the sleeps of exchange, unless there is nothing
// whole to compute with. An error means that they sleep on, until Wake succeeds.
func (e *Engine) wake() error {
	if e.broken.Load() {
		return nil
	}
	if err := e.ready(); err != nil {
		return err
	}
	var all error
	for _, wake := range e.naps {
		if err := wake(e.closing); !errors.Is(err, ErrNotRunning) && e.closing.Err() == nil { // else the session has ended
			all = errors.Join(all, err)
		}
	}
	e.naps = nil
	return all
}

// ready gives the executor the set that serves, if exchange has left it without. It needs
// life.
func (e *Engine) ready() error {
	s := e.session.Load()
	if e.store == nil || s.ended() || e.broken.Load() || slices.Contains(e.loaded, e.maker.weights.Epoch) {
		return nil
	}
	if err := e.load(e.closing, s, e.maker.weights); !errors.Is(err, executor.ErrClosed) { // closed: it ends
		return err
	}
	return nil
}

// replace is load and commit where memory holds one set, within exchange.
func (e *Engine) replace(ctx context.Context, s *session, set *weights.Set, c sched.Commit) error {
	if err := e.load(ctx, s, set); err != nil {
		return err
	}
	return e.commit(s, c)
}

// dropOld drops the sets that nobody computes with and that are not kept.
func (e *Engine) dropOld() {
	kept := e.store.Retained()
	for _, epoch := range slices.Clone(e.loaded) {
		if epoch != e.maker.weights.Epoch && e.versions.of(epoch) != kept {
			e.drop(epoch)
		}
	}
}

// unloadKept has the executor give up the kept set, so that the store can, and tells
// whether it had it. A way back to it packs it again.
func (e *Engine) unloadKept() (had bool) {
	for _, epoch := range slices.Clone(e.loaded) {
		if epoch != e.maker.weights.Epoch {
			e.drop(epoch)
			had = true
		}
	}
	return had
}

// drop gives up a set of the executor's that no step names any more. One that the
// executor does not give up stays in use.
func (e *Engine) drop(epoch uint32) {
	if loader, ok := e.session.Load().ex.(executor.Loader); ok {
		err := loader.Drop(epoch)
		if !errors.Is(err, executor.ErrClosed) {
			e.log(err)
		}
		if errors.Is(err, executor.ErrContract) {
			return
		}
	}
	e.unuse(epoch)
}

// unuse notes that the executor has a set no more.
func (e *Engine) unuse(epoch uint32) {
	i := slices.Index(e.loaded, epoch)
	e.loaded = slices.Delete(e.loaded, i, i+1)
	e.log(e.store.Done(epoch))
}

// log notes what cannot be mended and concerns nobody who could be told.
func (e *Engine) log(err error) {
	if err != nil {
		e.options.Log.Error().Err(err).Msg("weights")
	}
}

// back is the error of an install that is err, behind taking back what the store has made
// current, unless it computes. It says what serves.
func (e *Engine) back(err error) error {
	switch {
	case e.closed.Load():
		return ErrClosed
	case errors.Is(err, ErrCommitted):
		return err
	}
	e.log(e.store.Undo())
	if e.broken.Load() {
		return fmt.Errorf("%w: no version serves", err)
	}
	return fmt.Errorf("%w: version %q serves on", err, e.store.Current().Version)
}
