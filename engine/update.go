package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cbactor/cbactor/sched"
	"github.com/cbactor/cbactor/weights"
)

// KVPolicy says what an update of the weights does to a request that has begun: that
// has cache of older weights, or tokens that they sampled. One that has neither begins
// with the new ones.
type KVPolicy = sched.KV

const (
	KVAsUpdate  = sched.AsCommitted // of a request: as the update says; of an update: KVKeep
	KVKeep      = sched.Keep        // goes on over its cache, which nobody else is given from then on
	KVRecompute = sched.Recompute   // its cache is computed again from its first token on; it keeps what it has drawn, and its age
	KVAbort     = sched.Abort       // ends with FinishAborted and what it has
)

// UpdateOptions say what an update of the weights is.
type UpdateOptions struct {
	Base     string // version that it is made from, which must be serving; "": any, unless tensors of it are needed
	Version  string // name of the weights that come out, that none has had which served; at most 256 bytes
	Manifest weights.Manifest
	KV       KVPolicy
}

// update is an Update of an Engine.
type update struct {
	engine  *Engine
	kv      KVPolicy
	dropped string

	unbind func() bool // of the end of its context

	mu   sync.Mutex // never held by who waits; taken behind Engine.life
	part *weights.Update
	pace pace
}

// Update opens an update of the weights; there is one at a time. The whole manifest is
// checked before memory is taken. The version to which Rollback could go back is given up
// where memory does not hold the update beside it: see Update.Dropped. It is aborted when ctx ends before it is committed, so
// that a sender who is gone does not keep others from theirs.
//
// Errors are those of weights.Store.Begin, or ErrNoWeights. A name of a version that has
// served is refused with weights.ErrVersion. weights.ErrMemory means that there is no
// memory for other weights beside those that serve: see UpdateInPlace.
func (e *Engine) Update(ctx context.Context, o UpdateOptions) (Update, error) {
	if err := e.mayUpdate(ctx, o); err != nil {
		return nil, fmt.Errorf("update: %w", err)
	}
	defer e.others()
	part, err := e.store.Begin(o.Base, o.Version, o.Manifest)
	if errors.Is(err, weights.ErrMemory) && e.unloadKept() {
		part, err = e.store.Begin(o.Base, o.Version, o.Manifest)
	}
	if errors.Is(err, weights.ErrMemory) {
		err = fmt.Errorf("%w; UpdateInPlace needs none", err)
	}
	if err != nil {
		return nil, fmt.Errorf("update: %w", err)
	}
	e.versions.keep(e.store.Retained())
	u := &update{engine: e, kv: o.KV, dropped: part.Dropped(), part: part, pace: pace{engine: e}}
	u.unbind = context.AfterFunc(ctx, u.giveUp)
	return u, nil
}

// Dropped implements Update.
func (u *update) Dropped() string { return u.dropped }

// mayUpdate refuses what no update may ask for, else lets the caller alone change the
// weights, until others.
func (e *Engine) mayUpdate(ctx context.Context, o UpdateOptions) error {
	if err := e.mayChange(ctx, o.KV); err != nil {
		return err
	}
	err := e.versions.free(o.Version)
	if err != nil {
		e.others()
	}
	return err
}

// mayChange is mayUpdate of what has no options.
func (e *Engine) mayChange(ctx context.Context, kv KVPolicy) error {
	switch {
	case kv > KVAbort:
		return fmt.Errorf("%w: KV policy %d, must be from %d to %d", ErrParams, kv, KVAsUpdate, KVAbort)
	case ctx == nil:
		return errNoContext
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return e.changeWeights(ctx)
}

// Put implements Update.
func (u *update) Put(name, dtype string, shape []int, offset int, data []byte) error {
	u.mu.Lock()
	err := u.part.Accepts(name, dtype, shape, offset, len(data))
	u.mu.Unlock()
	if err != nil {
		return err
	}
	return inPieces(offset, data, func(offset int, data []byte) (rest time.Duration, err error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		began := time.Now()
		err = u.part.Put(name, dtype, shape, offset, data)
		return u.pace.rest(time.Since(began)), err
	})
}

// Missing implements Update.
func (u *update) Missing(ctx context.Context) (gaps []weights.Gap, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for g := range u.part.Missing() {
		gaps = append(gaps, g)
	}
	return gaps, ctx.Err()
}

// Commit implements Update.
func (u *update) Commit(ctx context.Context) error {
	if err := u.check(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	e := u.engine
	if err := e.changeWeights(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	defer e.others()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	set, err := u.become()
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	u.unbind()
	if err := e.install(ctx, set, u.kv); err != nil {
		return fmt.Errorf("commit: %w", e.back(err))
	}
	return nil
}

// check says what keeps an update from being committed.
func (u *update) check() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.part.Check()
}

// become makes a set of what was sent, which is current from then on.
func (u *update) become() (*weights.Set, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.part.Commit()
}

// Abort implements Update.
func (u *update) Abort() {
	u.unbind()
	u.giveUp()
}

// giveUp is Abort of an update whose context may have ended.
func (u *update) giveUp() {
	u.engine.later(func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.part.Abort()
	})
}

// Rollback lets the version compute again that served before the one that does, as a
// commit with the policy kv would. The one that served is kept in its place. Errors are
// those of Commit; weights.ErrVersion means that version is not kept.
func (e *Engine) Rollback(ctx context.Context, version string, kv KVPolicy) error {
	if err := e.mayChange(ctx, kv); err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	defer e.others()
	set, err := e.store.Rollback(version)
	if err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	if err := e.install(ctx, set, kv); err != nil {
		return fmt.Errorf("rollback: %w", e.back(err))
	}
	return nil
}
