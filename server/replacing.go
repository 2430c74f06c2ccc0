package server

import (
	"context"
	"errors"

	"github.com/cbactor/cbactor/engine"
)

// takeOne takes a hold of which there is one at most, at its place, or waits for who is about
// to; mine: there was none. One that was taken for less is taken again for all that was asked
// for.
func (p *pauses) takeOne(ctx, until context.Context, e engine.API, o pauseOptions, at **held) (mine bool, err error) {
	for {
		h, first, mine := p.join(until, o, at)
		if mine {
			return first, p.replace(ctx, until, e, h, at)
		}
		select {
		case <-h.taken:
			if !h.gone && (h.err != nil || h.options.covers(o)) {
				return false, h.err
			}
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// join is the hold at a place, which is the caller's to take if there was none (then it is the
// first), or one for less. To abort is always more: requests may have come since.
func (p *pauses) join(until context.Context, o pauseOptions, at **held) (h *held, first, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := (*at).live()
	switch {
	case before == nil:
		(*at).drop()
		*at = newHeld(until, o)
		return *at, true, true
	case before.waited() || o.mode != engine.PauseAbort && before.options.covers(o):
		return before, false, false
	}
	*at = newHeld(until, before.options.with(o))
	(*at).before, (*at).mode = before, o.mode
	if before.options.mode >= engine.PauseWait && o.mode == engine.PauseWait {
		(*at).mode = engine.PauseKeep // nothing has begun
	}
	return *at, false, true
}

// replace takes a hold, in the place of the one before it, which stays until then, and if
// nobody waits for the new one any more. What is to end before a pause begins goes on only
// while nobody holds one: the one before is left first then, and is taken again.
func (p *pauses) replace(ctx, until context.Context, e engine.API, h *held, at **held) error {
	o, ends := h.options, h.before != nil && h.mode == engine.PauseWait
	var err error
	if ends {
		o = h.before.options
		err = p.releaseBefore(h)
	}
	err = errors.Join(err, h.take(ctx, e))
	switch {
	case err == nil:
		return p.releaseBefore(h)
	case ends && h.gone:
		if again, _, mine := p.join(until, o, at); mine {
			err = errors.Join(err, p.replace(context.WithoutCancel(ctx), until, e, again, at))
		}
	default:
		p.forget(h)
	}
	return err
}

// releaseBefore ends the hold in whose place another one is taken.
func (p *pauses) releaseBefore(h *held) error {
	p.mu.Lock()
	before := h.before
	h.before = nil
	p.mu.Unlock()
	return p.release(before)
}
