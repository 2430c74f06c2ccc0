package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// hold is an engine.Hold of a pause at the engine. number and run are known before anybody
// has it.
type hold struct {
	client *Client
	number uint64
	run    int
	done   chan struct{}   // closed: it is not held any more
	ctx    context.Context // of the pause: as long as which is waited for answers
	unbind func() bool     // of its end

	mu       sync.Mutex
	ended    bool
	err      error
	released bool
	weights  *heldWeights // nil: nobody asked for them
}

// released tells the link that a hold needs no news any more.
type released struct{ hold *hold }

// Pause is engine.Engine.Pause. The methods of a Hold that have no context of their own wait for the
// engine as long as ctx; so does Tensor of its weights.
func (c *Client) Pause(ctx context.Context, o engine.PauseOptions) (engine.Hold, error) {
	if o.Mode > engine.PauseAbort || o.Lease < 0 {
		return nil, fmt.Errorf("%w: pause mode %d with a lease of %v, must be one of three and not negative", engine.ErrParams, o.Mode, o.Lease)
	}
	h, l := &hold{client: c, ctx: ctx, done: make(chan struct{})}, c.link
	k := &call{message: &messages.Call{What: &messages.Call_Pause{Pause: convert.Pause(o)}}}
	k.answer = func(r *messages.Reply, err error) {
		if err == nil { // before it may be lost
			h.number, h.run = r.GetHeld().GetHold(), l.run
			l.holds[h.number] = h
		}
	}
	k.undo = func(r *messages.Reply) { l.ask(releasing(r.GetHeld().GetHold(), "")) }
	if _, err := c.ask(ctx, k); err != nil {
		return nil, err
	}
	h.unbind = context.AfterFunc(ctx, func() {
		if h.end(fmt.Errorf("%w: its context has ended: %w", engine.ErrHoldLost, ctx.Err())) {
			l.tell(&released{h})
			l.tell(&call{message: releasing(h.number, ""), run: h.run, answer: func(*messages.Reply, error) {}})
		}
	})
	return h, nil
}

func releasing(hold uint64, version string) *messages.Call {
	return &messages.Call{What: &messages.Call_Release{Release: &messages.Release{Hold: hold, Version: version}}}
}

// end notes that the pause is not held any more, and tells whether it was.
func (h *hold) end(err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return false
	}
	h.ended, h.err = true, err
	close(h.done)
	return true
}

// lost says why the pause is not held any more; nil: it is.
func (h *hold) lost() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.ended:
		return nil
	case h.err != nil:
		return h.err
	}
	return engine.ErrHoldLost
}

// ask asks for something that the hold allows.
func (h *hold) ask(ctx context.Context, m *messages.Call) (*messages.Reply, error) {
	r, err := h.client.ask(ctx, &call{message: m, run: h.run})
	if errors.Is(err, ErrRestarted) {
		err = fmt.Errorf("%w: %w", engine.ErrHoldLost, err)
	}
	return r, err
}

// Release implements engine.Hold: what was written is sent first. An ErrLimit means that the engine
// has not heard of it: it is still held.
func (h *hold) Release(version string) error {
	h.mu.Lock()
	again, w := h.released, h.weights
	h.released = true
	h.mu.Unlock()
	if again {
		return nil
	}
	lost := h.lost()
	var sent error
	if !utf8.ValidString(version) {
		sent = fmt.Errorf("%w: the version %.80q is not UTF-8", weights.ErrVersion, version)
	} else if w != nil && lost == nil {
		sent = w.send()
	}
	if sent != nil {
		version = "" // the engine refuses it, so that no part of what was written counts
	}
	err := h.leave(version, lost != nil)
	if sent != nil {
		err = fmt.Errorf("release: %w", sent)
	}
	return cmp.Or(lost, err)
}

// leave asks the engine to end the hold, or if it has to forget it, for which nobody waits for long.
func (h *hold) leave(version string, lost bool) error {
	ctx := h.ctx
	if lost {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patientTime)
		defer cancel()
		ctx = late
	}
	_, err := h.ask(ctx, releasing(h.number, version))
	h.mu.Lock()
	h.released = !errors.Is(err, ErrLimit)
	left := h.released
	if left {
		h.weights = nil
	}
	h.mu.Unlock()
	if left {
		h.unbind()
		h.end(nil)
		h.client.link.tell(&released{h})
	}
	return err
}

// Renew implements engine.Hold.
func (h *hold) Renew() error {
	if err := h.lost(); err != nil {
		return err
	}
	_, err := h.ask(h.ctx, &messages.Call{What: &messages.Call_Renew{Renew: &messages.Renew{Hold: h.number}}})
	return err
}

// Done implements engine.Hold.
func (h *hold) Done() <-chan struct{} { return h.done }

// Err implements engine.Hold.
func (h *hold) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Logits implements engine.Hold.
func (h *hold) Logits(ctx context.Context, ids []int32) ([]float32, error) {
	if err := h.lost(); err != nil {
		return nil, fmt.Errorf("logits: %w", err)
	}
	r, err := h.ask(ctx, &messages.Call{What: &messages.Call_Logits{Logits: &messages.Logits{Hold: h.number, Ids: ids}}})
	return r.GetNumbers().GetValues(), err
}
