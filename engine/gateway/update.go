package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// update is one of the weights that the guest sends.
type update struct {
	engine.Update
	number uint64
	lane   lane
	cancel context.CancelFunc
}

// maxUpdates bounds how many of a guest's updates there are that have ended, or not, but were
// neither committed nor aborted.
const maxUpdates = 16

// beginUpdate takes a part of an update's manifest, and opens the update with the last one.
func (g *guest) beginUpdate(c *call, m *messages.BeginUpdate) error {
	if n := len(g.updates) + g.updating; n >= maxUpdates {
		return fmt.Errorf("%w: %d updates were begun and not aborted", convert.ErrLimit, n)
	}
	g.updating++
	var part *manifest
	g.start(c, &g.manifests, job{
		run: func(context.Context) (_ *messages.Reply, err error) { part, err = readUpdate(m); return nil, err },
		done: func(_ *messages.Reply, err error, c *call) bool {
			var whole *engine.UpdateOptions
			if err == nil {
				whole, err = g.collect(part, m.GetManifest().GetMore())
			}
			switch {
			case err != nil:
				g.answer(c, nil, err)
			case whole == nil:
				g.answer(c, nil, nil)
			default:
				g.openUpdate(c, *whole, m.GetInPlace())
				return false
			}
			g.updating--
			return false
		},
	})
	return nil
}

// openUpdate opens an update.
func (g *guest) openUpdate(c *call, options engine.UpdateOptions, inPlace bool) {
	begin := g.engine.Update
	if inPlace {
		begin = g.overwrite
	}
	var part engine.Update
	g.start(c, nil, job{
		run: func(ctx context.Context) (_ *messages.Reply, err error) {
			if part, err = begin(ctx, options); err != nil {
				return nil, err
			}
			return &messages.Reply{What: &messages.Reply_Update{Update: &messages.Update{Dropped: part.Dropped()}}}, nil
		},
		done: func(reply *messages.Reply, err error, c *call) bool {
			g.updating--
			if err == nil {
				g.numbers++
				u := &update{Update: part, number: g.numbers, cancel: c.cancel}
				g.updates[u.number], c.kept = u, true
				reply.GetUpdate().Update = u.number
			}
			return true
		},
	})
}

// use has a call use an update, behind those before it.
func (g *guest) useUpdate(c *call, number uint64, j job) error {
	u := g.updates[number]
	if u == nil {
		return fmt.Errorf("%w: there is no update %d", weights.ErrClosed, number)
	}
	g.start(c, &u.lane, j)
	return nil
}

// putChunk stages bytes.
func (g *guest) putChunk(c *call, m *messages.PutChunk) error {
	shape, err := convert.ShapeOf(m.GetShape())
	if err != nil {
		return err
	}
	offset, err := convert.OffsetOf(m.GetOffset())
	if err != nil {
		return err
	}
	u := g.updates[m.GetUpdate()]
	return g.useUpdate(c, m.GetUpdate(), job{run: func(context.Context) (*messages.Reply, error) {
		return nil, u.Put(m.GetName(), m.GetDtype(), shape, offset, m.GetData())
	}})
}

// maxGaps bounds how many gaps are told at a time.
const maxGaps = 1000

func (g *guest) missing(c *call, m *messages.Missing) error {
	u := g.updates[m.GetUpdate()]
	return g.useUpdate(c, m.GetUpdate(), job{run: func(ctx context.Context) (*messages.Reply, error) {
		list, err := u.Missing(ctx)
		return &messages.Reply{What: &messages.Reply_Gaps{Gaps: convert.Gaps(list, maxGaps)}}, err
	}})
}

// sendAgain ends the first time that an update in place is sent.
func (g *guest) sendAgain(c *call, m *messages.SendAgain) error {
	u := g.updates[m.GetUpdate()]
	return g.useUpdate(c, m.GetUpdate(), job{run: func(ctx context.Context) (*messages.Reply, error) {
		o, ok := u.Update.(*overwrite)
		if !ok {
			return nil, fmt.Errorf("%w: only an update in place is sent twice", engine.ErrParams)
		}
		return nil, o.again(ctx)
	}})
}

// commit lets the weights compute. The update is gone then, else it stays.
func (g *guest) commit(c *call, m *messages.Commit) error {
	u := g.updates[m.GetUpdate()]
	return g.useUpdate(c, m.GetUpdate(), job{
		run: func(ctx context.Context) (*messages.Reply, error) { return nil, u.Commit(ctx) },
		done: func(_ *messages.Reply, err error, _ *call) bool {
			if err == nil {
				g.close(u)
			}
			return true
		},
	})
}

// abortUpdate gives an update up. One that is gone is no error, but weights that it has left
// broken are.
func (g *guest) abortUpdate(c *call, m *messages.AbortUpdate) error {
	u := g.updates[m.GetUpdate()]
	if u == nil {
		g.answer(c, nil, nil)
		return nil
	}
	return g.useUpdate(c, u.number, job{
		run: func(context.Context) (*messages.Reply, error) {
			u.Abort()
			if o, ok := u.Update.(*overwrite); ok && errors.Is(o.err, engine.ErrBroken) {
				return nil, o.err
			}
			return nil, nil
		},
		done: func(*messages.Reply, error, *call) bool { g.close(u); return true },
	})
}

// close forgets an update that has ended.
func (g *guest) close(u *update) {
	delete(g.updates, u.number)
	u.cancel()
}

func (g *guest) rollback(c *call, m *messages.Rollback) error {
	kv, err := convert.KVOf(m.GetKv())
	if err != nil {
		return err
	}
	return g.plain(c, func(ctx context.Context) error { return g.engine.Rollback(ctx, m.GetVersion(), kv) })
}

// checksum is the digest of the weights that serve.
func (g *guest) checksum(c *call, m *messages.Checksum) error {
	kind, err := convert.DigestKindOf(m.GetKind())
	if err != nil {
		return err
	}
	g.start(c, nil, job{run: func(ctx context.Context) (*messages.Reply, error) {
		version, digest, err := g.engine.Checksum(ctx, kind)
		return &messages.Reply{What: &messages.Reply_Digest{Digest: &messages.Digest{Version: version, Digest: digest.String()}}}, err
	}})
	return nil
}
