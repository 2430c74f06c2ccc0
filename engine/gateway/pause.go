package gateway

import (
	"context"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// hold is a pause that the guest holds, or has lost.
type hold struct {
	engine.Hold
	number uint64
	lane   lane // of calls that use what is held
	cancel context.CancelFunc
	lost   error // why it is not held any more; nil: it is
}

// pause takes a hold. It is answered behind all news of the last step.
func (g *guest) pause(c *call, m *messages.Pause) error {
	options, err := convert.PauseOf(m)
	if err != nil {
		return err
	}
	if n := len(g.holds) - len(g.lostHolds) + g.pausing; n >= g.options.Limits.Holds {
		return fmt.Errorf("%w: %d pauses are held or asked for: release some", convert.ErrLimit, n)
	}
	g.pausing++
	var held engine.Hold
	g.start(c, nil, job{
		run: func(ctx context.Context) (_ *messages.Reply, err error) {
			held, err = g.engine.Pause(ctx, options)
			return nil, err
		},
		done: func(_ *messages.Reply, err error, c *call) bool {
			g.pausing--
			if err != nil {
				return true
			}
			h := g.hold(c, held)
			g.flush(func() {
				g.answer(c, &messages.Reply{What: &messages.Reply_Held{Held: &messages.Held{Hold: h.number}}}, nil)
				g.tellLost(h)
			})
			return false
		},
	})
	return nil
}

// hold enters a hold, and hears of its end.
func (g *guest) hold(c *call, held engine.Hold) *hold {
	g.numbers++
	h := &hold{Hold: held, number: g.numbers, cancel: c.cancel}
	c.kept = true
	g.holds[h.number] = h
	self, root := g.self, g.system.Root
	g.running.Go(func() {
		<-held.Done() // it ends with the guest at the latest
		root.Send(self, &holdEnded{h})
	})
	return h
}

// holdEnded says that a hold has ended.
type holdEnded struct{ hold *hold }

func (g *guest) holdEnded(h *hold) {
	h.cancel()
	if h.lost = h.Err(); h.lost == nil || g.holds[h.number] != h {
		return // it was released
	}
	if g.lostHolds = append(g.lostHolds, h.number); len(g.lostHolds) > g.options.Limits.Holds {
		g.forgetHold(g.lostHolds[0])
	}
	g.tellLost(h)
}

// forgetHold forgets a hold that was released, or was lost before many others.
func (g *guest) forgetHold(number uint64) {
	delete(g.holds, number)
	g.lostHolds = slices.DeleteFunc(g.lostHolds, func(n uint64) bool { return n == number })
}

// tellLost tells that a hold was lost, if it was: over each connection, until it is released
// or forgotten.
func (g *guest) tellLost(h *hold) {
	if h.lost != nil && g.holds[h.number] == h {
		g.tell(&messages.Lost{Hold: h.number, Error: convert.Error(h.lost)})
	}
}

// held finds a hold.
func (g *guest) held(number uint64) (*hold, error) {
	h := g.holds[number]
	switch {
	case h == nil:
		return nil, fmt.Errorf("%w: there is no hold %d", engine.ErrHoldLost, number)
	case h.lost != nil:
		return nil, h.lost
	}
	return h, nil
}

// renew lets a lease begin again, whatever else the hold is used for.
func (g *guest) renew(c *call, m *messages.Renew) error {
	h, err := g.held(m.GetHold())
	if err != nil {
		return err
	}
	return g.plain(c, func(context.Context) error { return h.Renew() })
}

// release leaves a pause, behind what was written.
func (g *guest) release(c *call, m *messages.Release) error {
	h := g.holds[m.GetHold()]
	if h == nil {
		_, err := g.held(m.GetHold())
		return err
	}
	g.start(c, &h.lane, job{
		run:  func(context.Context) (*messages.Reply, error) { return nil, h.Release(m.GetVersion()) },
		done: func(*messages.Reply, error, *call) bool { g.forgetHold(h.number); return true },
	})
	return nil
}

// logits computes with the model under a hold.
func (g *guest) logits(c *call, m *messages.Logits) error {
	h, err := g.held(m.GetHold())
	if err != nil {
		return err
	}
	g.start(c, nil, job{run: func(ctx context.Context) (*messages.Reply, error) {
		values, err := h.Logits(ctx, m.GetIds())
		return &messages.Reply{What: &messages.Reply_Numbers{Numbers: &messages.Numbers{Values: values}}}, err
	}})
	return nil
}
