package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/cbactor/cbactor/actors"
)

// Engine is a running engine.
type Engine struct {
	system *actors.System
	limits actors.Limits
	info   Info
	lastID atomic.Uint64
}

// Spawn resolves cfg, loads the model, makes the cache and starts the actors. What
// Resolved.Notices says is logged as warnings. ctx bounds the start: it is looked at
// between reading the weights and packing them.
func Spawn(ctx context.Context, cfg Config) (*Engine, error) {
	r, err := Resolve(cfg)
	if err != nil {
		return nil, err
	}
	for _, n := range r.Notices {
		cfg.Log.Warn().Msg(n)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ex := cfg.Executor
	if ex == nil {
		if ex, err = r.loadCPU(ctx); err != nil {
			return nil, err
		}
	}
	info := ex.Info()
	e := &Engine{info: r.info(info), limits: r.limits(info)}
	e.system = actors.Start(actors.Options{Executor: ex, Sched: r.sched(info), Limits: e.limits, Key: rand.Uint64(), Log: cfg.Log, Trace: cfg.Trace})
	return e, nil
}

// Info is the configuration in force.
func (e *Engine) Info() Info {
	info := e.info
	info.EOS = slices.Clone(info.EOS)
	return info
}

// Cancel ends a request with FinishCancelled and the tokens so far, wherever it
// is, and its other sequences too. An id that is unknown or ended is harmless.
func (e *Engine) Cancel(id string) { e.system.Cancel(id, nil) }

// StopOptions says how to stop.
type StopOptions struct {
	Hard bool // do not wait for open requests: they end as failed with what they have
}

// Stop ends the engine: nothing new is accepted, and what was completes first,
// unless Hard. When ctx ends first the engine goes on stopping; Stop may be called
// again, also harder. Close frees threads and memory afterwards.
func (e *Engine) Stop(ctx context.Context, o StopOptions) error {
	e.system.Stop(o.Hard)
	select {
	case <-e.system.Done():
		return e.system.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops hard and frees everything: threads, cache, weights, also an executor
// that was passed in. It is safe twice; afterwards every call answers ErrClosed. It
// waits for the step that runs, at most 30 s: then it answers ErrStuck.
func (e *Engine) Close() error {
	e.system.Stop(true)
	return e.system.Close()
}
