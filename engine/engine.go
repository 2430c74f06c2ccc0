package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// Engine takes requests, in one session after another: Spawn begins the first one,
// Stop ends one, Start begins the next, Close ends all. What takes requests and gives
// what comes of them are the methods of its Front.
type Engine struct {
	*Front
	info    Info
	options actors.Options // of every session
	maker   *maker         // of every session's executor; nil: it is the caller's, and there is one
	model   *model.Config  // nil: not known, with an executor of the caller's

	recording *recording // nil: none

	life     chan struct{}  // room for one: who begins a session or ends one, changes weights, or moves their memory
	store    *weights.Store // nil: not needed yet. It needs life, and so do those up to naps
	loaded   []uint32       // epochs of it that the session's executor has
	borrowed int            // sets of it that somebody reads
	updates  weights.Options
	lost     bool                          // it was said that weights which were sent are computed as less
	naps     []func(context.Context) error // end sleeps of the weights, while they are exchanged or broken

	broken  atomic.Bool     // the weights were overwritten in part: nothing may compute
	closing context.Context // ends with Close
	close   context.CancelFunc
	session atomic.Pointer[session]
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
	e := &Engine{life: make(chan struct{}, 1)}
	e.Front = newFront(local{e}, FrontOptions{Names: unnamed, Logprobs: *r.Config.ReturnLogprobs, Sharing: *r.Config.AllowBlockSharing, Log: cfg.Log})
	e.closing, e.close = context.WithCancel(context.Background())
	if cfg.Checkpoint != nil {
		e.model = cfg.Checkpoint.Config
	}
	ex := cfg.Executor
	if ex == nil {
		e.updates = r.updates()
		if e.maker, err = r.load(); err != nil {
			return nil, err
		}
		if ex, err = e.maker.next(ctx); err != nil {
			return nil, err
		}
	}
	info := ex.Info()
	e.info = r.info(info)
	e.options = actors.Options{Sched: r.sched(info), Limits: r.limits(info), Key: rand.Uint64(), Log: cfg.Log, Trace: cfg.Trace, Version: e.versions.of, Meter: new(actors.Meter)}
	e.recording = e.newRecording(r)
	e.begin(ex, nil)
	return e, nil
}

// Info is the configuration in force.
func (e *Engine) Info() Info {
	info := e.info
	info.EOS = slices.Clone(info.EOS)
	return info
}

// Close stops hard and frees everything: threads, cache, weights, results that were
// not read, also an executor that was passed in. It is safe twice; afterwards every
// call answers ErrClosed. Streams can be read to their end. It waits for the step
// that runs, at most 30 s, and where a Matcher blocks for as long again: then it
// answers ErrStuck.
func (e *Engine) Close() error {
	e.closed.Store(true) // nobody begins a session any more
	e.close()
	e.session.Load().system.Stop(true, false) // before it waits for who changes weights, which this ends
	e.life <- struct{}{}
	defer func() { <-e.life }()
	s := e.session.Load()
	s.system.Stop(true, false)
	err := s.system.Close()
	if !errors.Is(err, ErrStuck) {
		<-s.freed
	}
	if e.store = nil; e.maker != nil { // an engine that is kept keeps no weights
		e.maker.weights = nil
	}
	e.requests.forget()
	return errors.Join(err, e.recording.close())
}
