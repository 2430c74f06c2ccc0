package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// pauses are the holds of a model's pause that HTTP has taken. They are the engine's, which
// ends them with their lease; those that have ended are forgotten when it is looked.
type pauses struct {
	mu    sync.Mutex
	plain *held            // the one without an id; nil: none
	nap   *held            // that of who sleeps; nil: none
	named map[string]*held // those with a lease, by id
}

// maxHolds bounds how many holds with a lease a model has.
const maxHolds = 16

// pauseOptions say how to pause.
type pauseOptions struct {
	mode   engine.PauseMode
	refuse bool
	lease  time.Duration // 0: the plain hold, which has none
	fresh  bool          // an update meanwhile that says nothing of it has caches computed again
}

// covers tells that a pause by o does what other asks for. Modes ascend by what they end.
func (o pauseOptions) covers(other pauseOptions) bool { return o == o.with(other) }

// with is what both ask for.
func (o pauseOptions) with(other pauseOptions) pauseOptions {
	o.mode, o.refuse, o.fresh = max(o.mode, other.mode), o.refuse || other.refuse, o.fresh || other.fresh
	return o
}

var (
	errHolds    = &refusal{http.StatusTooManyRequests, fmt.Sprintf("%d pauses with a lease are held: release some", maxHolds), "", "too_many_holds"}
	errReleased = &refusal{http.StatusConflict, "the pause was released while it was waited for", "", "pause_released"}
)

func errNoHold(id string) error {
	return &refusal{http.StatusNotFound, fmt.Sprintf("the pause is not held by %.80q any more: take another one", id), "hold", "hold_lost"}
}

// pause pauses a model, and answers which hold that is; "": the plain one, of which there is
// one at most, so that a second call changes nothing. It is held until resume, the end of its
// lease or that of the server. When ctx ends before, nobody waits for it: it is given up,
// unless others ask for it, too.
func (s *Server) pause(ctx context.Context, m *Model, o pauseOptions) (id string, err error) {
	if err := s.closing(); err != nil {
		return "", err
	}
	p := &m.trainer.pauses
	if o.lease == 0 {
		_, err := p.takeOne(ctx, s.ending, m.Engine, o, &p.plain)
		return "", err
	}
	id = strings.ToLower(rand.Text())
	h := newHeld(s.ending, o)
	if !p.enter(id, h) {
		h.end()
		return "", errHolds
	}
	if err := h.take(ctx, m.Engine); err != nil {
		p.forget(h)
		return "", err
	}
	return id, nil
}

// enter gives a hold with a lease its place.
func (p *pauses) enter(id string, h *held) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.named, func(_ string, o *held) bool {
		over := o.over()
		if over {
			o.end()
		}
		return over
	})
	if len(p.named) >= maxHolds {
		return false
	}
	if p.named == nil {
		p.named = map[string]*held{}
	}
	p.named[id] = h
	return true
}

// forget takes out a hold that has ended. The one that it was to take the place of has it again.
func (p *pauses) forget(h *held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range []**held{&p.plain, &p.nap} {
		if *at == h {
			*at = h.before
		}
	}
	maps.DeleteFunc(p.named, func(_ string, o *held) bool { return o == h })
}

// find is a hold by its id, if it is held or waited for; "": the plain one; nil: there is none.
func (p *pauses) find(id string) *held {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == "" {
		return p.plain.live()
	}
	return p.named[id].live()
}

// napping is the hold of who sleeps; nil: there is none.
func (p *pauses) napping() *held {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nap.live()
}

// renew begins the lease of a hold again.
func (s *Server) renew(m *Model, id string) error {
	h := m.trainer.pauses.find(id)
	if h == nil {
		return errNoHold(id)
	}
	if err := h.Renew(); errors.Is(err, engine.ErrHoldLost) {
		return errNoHold(id)
	} else if err != nil {
		return err
	}
	return nil
}

// resume releases a hold; "" is the plain one. One that is gone is no error. Generation goes
// on when nobody holds a pause any more.
func (s *Server) resume(m *Model, id string) error {
	p := &m.trainer.pauses
	return p.release(p.find(id))
}

// release ends a hold, or the wait for it; nil: there is none.
func (p *pauses) release(h *held) error {
	if h == nil {
		return nil
	}
	select {
	case <-h.taken:
	default:
		h.end()
		<-h.taken
	}
	if h.Hold != nil {
		if err := h.Release(""); err != nil && !errors.Is(err, engine.ErrHoldLost) { // lost: nobody holds it either
			return err
		}
	}
	h.end()
	p.forget(h)
	return p.releaseBefore(h)
}

// fresh tells whether somebody who holds a pause wants caches computed again by other weights.
func (p *pauses) fresh() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range append(slices.Collect(maps.Values(p.named)), p.plain) {
		if h = h.live(); h != nil && h.options.fresh {
			return true
		}
	}
	return false
}

// paused tells whether generation rests, or is about to, and how many hold the pause,
// wherever they have taken it.
func (m *Model) paused() (rests bool, holds int) {
	status := m.Engine.Status()
	return status.Mode == "pausing" || status.Mode == "paused" || status.Mode == "sleeping", status.Holders
}
