package server

import (
	"context"

	"github.com/cbactor/cbactor/engine"
)

// held is a hold, or one that is waited for.
type held struct {
	engine.Hold // nil: not yet
	options     pauseOptions
	ctx         context.Context // as long as which it is held
	end         context.CancelFunc

	taken chan struct{} // closed: the wait has ended
	err   error         // then: how
	gone  bool          // who has waited for it is gone, so that others have to begin again
}

// newHeld is a hold to take, that ends with ctx at the latest.
func newHeld(ctx context.Context, o pauseOptions) *held {
	h := &held{options: o, taken: make(chan struct{})}
	h.ctx, h.end = context.WithCancel(ctx)
	return h
}

// take pauses the engine. Without ctx nobody waits for it any more.
func (h *held) take(ctx context.Context, e engine.API) error {
	defer close(h.taken)
	unbind := context.AfterFunc(ctx, h.end)
	hold, err := e.Pause(h.ctx, engine.PauseOptions{Mode: h.options.mode, Refuse: h.options.refuse, Lease: h.options.lease})
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

// live is the hold, unless there is none or it has ended.
func (h *held) live() *held {
	if h == nil || h.over() {
		return nil
	}
	return h
}

// over tells that a hold has ended.
func (h *held) over() bool {
	select {
	case <-h.taken:
	default:
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
