package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/cbactor/cbactor/actors"
)

// Engine is a running engine.
type Engine struct {
	system *actors.System
	info   Info
	lastID atomic.Uint64
}

// Spawn resolves cfg, loads the model, makes the cache and starts the actors. ctx
// bounds the start only. What Resolved.Notices says is logged as warnings.
func Spawn(ctx context.Context, cfg Config) (*Engine, error) {
	r, err := Resolve(cfg)
	if err != nil {
		return nil, err
	}
	for _, n := range r.Notices {
		cfg.Log.Warn().Msg(n)
	}
	ex := cfg.Executor
	if ex == nil {
		if ex, err = r.loadCPU(ctx); err != nil {
			return nil, err
		}
	}
	e := &Engine{info: r.info(ex)}
	e.system = actors.Start(actors.Options{Executor: ex, Sched: r.sched(ex.Info()), Limits: r.limits(ex.Info()), Log: cfg.Log})
	return e, nil
}

// Info is the configuration in force.
func (e *Engine) Info() Info { return e.info }

// AddRequest submits a request and returns its stream. A request that can never
// be served, or not now, is refused at once with a typed error, before anything is
// queued. When ctx ends before the answer, the request is cancelled.
func (e *Engine) AddRequest(ctx context.Context, r Request) (*Stream, error) {
	if r.ID == "" {
		r.ID = "req-" + strconv.FormatUint(e.lastID.Add(1), 10)
	}
	eos := r.EOS
	if eos == nil {
		eos = e.info.EOS
	}
	if r.IgnoreEOS {
		eos = nil
	}
	room := max(0, e.info.MaxContext-len(r.PromptIDs))
	if r.MaxNewTokens > 0 {
		room = min(room, r.MaxNewTokens)
	}
	ids := slices.Clone(r.PromptIDs)
	s := newStream(r.ID, ids, room, e.Cancel)
	reply := make(chan error, 1)
	e.system.Submit(&actors.Submit{ID: r.ID, IDs: ids, MaxNew: r.MaxNewTokens, EOS: slices.Clone(eos),
		Sampling: r.Sampling, Seed: e.seed(r), Sink: sink{s}, Reply: reply})
	select {
	case err := <-reply:
		if err != nil {
			return nil, fmt.Errorf("request %q: %w", r.ID, err)
		}
		return s, nil
	case <-e.system.Done():
		return nil, e.ended()
	case <-ctx.Done():
		e.Cancel(r.ID)
		return nil, ctx.Err()
	}
}

// seed is the request's own, or one drawn from the engine's and the request's id,
// so that a run can be repeated from the engine's seed.
func (e *Engine) seed(r Request) uint64 {
	if r.Seed != nil {
		return *r.Seed
	}
	h := e.info.Seed
	for _, b := range []byte(r.ID) { // FNV-1a
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.NewPCG(e.info.Seed, h).Uint64()
}

// ended says why requests are not taken any more, once the actors are gone.
func (e *Engine) ended() error {
	if err := e.system.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return ErrClosed
}

// Cancel ends a request with FinishCancelled and the tokens so far, wherever it
// is. An id that is unknown or ended is harmless.
func (e *Engine) Cancel(id string) { e.system.Cancel(id) }

// StopOptions says how to stop.
type StopOptions struct {
	Hard bool // do not wait for open requests: they end as failed with what they have
}

// Stop ends the engine: nothing new is accepted, and what was completes first,
// unless Hard. When ctx ends first the engine goes on stopping; Stop may be called
// again, also harder.
func (e *Engine) Stop(ctx context.Context, o StopOptions) error {
	e.system.Stop(o.Hard)
	select {
	case <-e.system.Done():
		return e.system.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops hard and frees everything: threads, cache, weights. It is safe
// twice; afterwards every call answers ErrClosed.
func (e *Engine) Close() error {
	e.system.Stop(true)
	return e.system.Close()
}
