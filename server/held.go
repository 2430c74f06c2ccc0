package server

import (
	"context"

	"github.com/cbactor/cbactor/engine"
)

// held is a hold, or one that is waited for.
type held struct {
	engine.Hold                  // nil: not yet
	options     pauseOptions     // of all who have asked for it
	mode        engine.PauseMode // that is asked for now
	before      *held            // the one that it takes the place of, once it is held; nil: none
	ctx         context.Context  // as long as which it is held
	end         context.CancelFunc

	taken chan struct{} // closed: the wait has ended
	err   error         // then: how
	gone  bool          // who has waited for it is gone, so that others have to begin again
}

// newHeld is a hold to take, that ends with ctx at the latest.
func newHeld(ctx context.Context, o pauseOptions) *held {
	h := &held{options: o, mode: o.mode, taken: make(chan struct{})}
	h.ctx, h.end = context.WithCancel(ctx)
	return h
}

// take pauses the engine. Without ctx nobody waits for it any more.
func (h *held) take(ctx context.Context, e engine.API) error {
	defer close(h.taken)
	unbind := context.AfterFunc(ctx, h.end)
	hold, err := e.Pause(h.ctx, engine.PauseOptions{Mode: h.mode, Refuse: h.options.refuse, Lease: h.options.lease})
	switch gone := !unbind(); {
	case gone:
		h.gone, h.err = true, context.Cause(ctx)
	case err == nil:
		h.Hold = hold
		return nil
	case h.ctx.Err() != nil:
		h.err = errReleased
	default:
		h.err = err
	}
	h.end()
	return h.err
}

// live is the hold, or if it has ended the one that it was to take the place of; nil: none
// is held. It is called with the mutex of its pauses.
func (h *held) live() *held {
	for h != nil && h.over() {
		h = h.before
	}
	return h
}

// drop lets go of what has ended by itself; nil: there is nothing.
func (h *held) drop() {
	for ; h != nil; h = h.before {
		h.end()
	}
}

// waited tells that a hold is still waited for.
func (h *held) waited() bool {
	select {
	case <-h.taken:
		return false
	default:
		return true
	}
}

// over tells that a hold has ended.
func (h *held) over() bool {
	if h.waited() {
		return false
	}
	if h.Hold == nil {
		return true
	}
	select {
	case <-h.Done():
		return true
	default:
		return false
	}
}
