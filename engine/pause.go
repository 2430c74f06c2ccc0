package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/actors"
)

// PauseMode says what becomes of requests that have begun when a pause begins.
type PauseMode = actors.PauseMode

const (
	PauseKeep  = actors.PauseKeep  // they keep their place and cache, and go on afterwards
	PauseWait  = actors.PauseWait  // they complete first
	PauseAbort = actors.PauseAbort // all open requests end with FinishAborted and what they have
)

// PauseOptions say how to pause.
type PauseOptions struct {
	Mode   PauseMode
	Refuse bool          // new requests are refused with ErrPaused, else they wait
	Lease  time.Duration // the pause is held no longer without Hold.Renew; 0: as long as it takes
}

// Pause stops generation between two steps. It returns when no step runs and all that
// came of the last one was given to readers; with PauseWait that is when all requests
// that had begun have ended, those that wait for a place in a step stay so.
//
// There may be several holders: generation goes on when the last has left, by
// Hold.Release, by the end of its lease or of ctx, which a hold lives as long as. One
// who waits keeps what has begun going only as long as nobody else holds the pause.
//
// A soft Stop waits for the end of the pause, a hard one and Close end it. Where no
// session is under way, or one is stopped hard, the error is of class ErrUnavailable,
// and comes at once.
func (e *Engine) Pause(ctx context.Context, o PauseOptions) (Hold, error) {
	if o.Mode > PauseAbort || o.Lease < 0 {
		return nil, fmt.Errorf("%w: pause mode %d with a lease of %v, must be one of three and not negative", ErrParams, o.Mode, o.Lease)
	}
	held, err := e.session.Load().system.Pause(ctx, actors.PauseOptions{Mode: o.Mode, Refuse: o.Refuse, Lease: o.Lease})
	if err != nil {
		return nil, fmt.Errorf("pause: %w", e.closedOr(err))
	}
	return &hold{engine: e, held: held}, nil
}

// closedOr is ErrClosed for a call that found the engine closed, or whose wait that ended,
// else err.
func (e *Engine) closedOr(err error) error {
	if (errors.Is(err, ErrUnavailable) || errors.Is(err, context.Canceled)) && e.closed.Load() {
		return ErrClosed
	}
	return err
}

// Part is a part of an engine's memory, or several.
type Part uint8

const (
	KV      Part = 1 << iota // the cache with its host pool
	Weights                  // as they are computed with; as they are stored they stay, and so do adapters
)

// Sleep gives memory back to the system until Wake. It pauses as with PauseKeep and
// returns when the memory is given back. With KV all requests are given up to be
// computed again, and nothing of the prefix cache is left. What sleeps already goes on
// sleeping; new requests wait. It outlasts a Stop that keeps. When ctx ends before it
// returns, it is undone. Sleep and Wake wait for who changes the weights.
//
// An executor that cannot sleep is executor.ErrUnsupported.
func (e *Engine) Sleep(ctx context.Context, parts Part) error {
	if parts == 0 || parts > KV|Weights {
		return fmt.Errorf("%w: sleep takes KV, Weights or both", ErrParams)
	}
	if err := e.alone(ctx); err != nil {
		return fmt.Errorf("sleep: %w", err)
	}
	defer e.others()
	if err := e.session.Load().system.Sleep(ctx, parts&KV != 0, parts&Weights != 0); err != nil {
		return fmt.Errorf("sleep: %w", e.closedOr(err))
	}
	return nil
}

// Wake takes the memory again that Sleep gave back, and lets generation go on if nobody
// holds a pause. Where nothing sleeps it does nothing. An error means that it still
// sleeps, unless it is of class ErrUnavailable; ErrBroken means that, too. ctx bounds the
// wait only.
func (e *Engine) Wake(ctx context.Context) error {
	if err := e.alone(ctx); err != nil {
		return fmt.Errorf("wake: %w", err)
	}
	defer e.others()
	if e.broken.Load() {
		return fmt.Errorf("wake: %w", errSendWeights)
	}
	if err := e.ready(); err != nil {
		return fmt.Errorf("wake: %w", err)
	}
	if err := e.session.Load().system.Wake(ctx); err != nil {
		return fmt.Errorf("wake: %w", e.closedOr(err))
	}
	return nil
}

// Status is what an engine does.
type Status struct {
	Mode    string // running, pausing, paused, sleeping, draining, halting, stopped or closed
	Holders int    // of the pause
	Asleep  Part
}

// Status is what the engine does now.
func (e *Engine) Status() Status {
	s := e.session.Load()
	state := s.system.State()
	out := Status{Mode: state.Mode, Holders: state.Holders}
	if state.KV {
		out.Asleep |= KV
	}
	if state.Weights {
		out.Asleep |= Weights
	}
	switch {
	case e.closed.Load():
		out = Status{Mode: "closed"}
	case s.ended():
		out = Status{Mode: "stopped"}
	}
	return out
}

// ended tells that the actors of the session are gone.
func (s *session) ended() bool {
	select {
	case <-s.system.Done():
		return true
	default:
		return false
	}
}
