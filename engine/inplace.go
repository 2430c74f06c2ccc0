package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// UpdateInPlace is an update in the memory of the weights that serve, for where there is
// none for others beside them, so that Update is a weights.ErrMemory. send gives the
// tensors of the manifest, each whole and in order, as checkpoint.Stream.Send does for
// files, and is called twice: at first everything is checked, beside generation; then
// generation pauses as with PauseKeep, it is copied, and what is derived from it is made
// again. Requests in flight are treated as by any commit, and Rollback has nothing to go
// back to. Tensors are cast to the types that they are stored in. Neither sparse updates
// nor a digest of the result can be sent.
//
// An error leaves the weights that serve as they are, to the bit, whatever it is, but
// for ErrCommitted, as of Commit, and for ErrBroken: the second time send has failed or panicked in the middle, or has brought
// other bytes than at first. Then no version serves (Version is ""). What is open waits, and new
// requests, Start and Wake are refused with ErrBroken, until an Update or UpdateInPlace of
// all tensors has succeeded, behind which everything goes on. weights.ErrBusy means that
// another update is open, weights.ErrInUse that a holder of a pause has taken the Weights,
// or Checksum reads them.
//
// ctx is looked at until copying begins. A send that may hang has to end by itself, with
// an error: others who change weights, and Close, wait for it. So the second time it must
// not call what waits for them: Update, Commit, Rollback, Checksum, Hold.Weights, Sleep,
// Wake, Start and Stop.
func (e *Engine) UpdateInPlace(ctx context.Context, o UpdateOptions, send weights.Send) error {
	if err := e.updateInPlace(ctx, o, send); err != nil {
		return fmt.Errorf("update in place: %w", e.closedOr(err))
	}
	return nil
}

// errSendWeights says what to do about weights that are broken.
var errSendWeights = fmt.Errorf("%w: send all tensors by an update", ErrBroken)

func (e *Engine) updateInPlace(ctx context.Context, o UpdateOptions, send weights.Send) error {
	if send == nil {
		return fmt.Errorf("%w: an update in place without a source of its tensors", ErrParams)
	}
	if err := e.mayUpdate(ctx, o); err != nil {
		return err
	}
	over, err := e.store.Overwrite(o.Base, o.Version, o.Manifest)
	e.others()
	if err != nil {
		return err
	}
	if err = over.Check(e.paced(send).Guarded(ctx.Err)); err == nil {
		err = e.changeWeights(ctx)
	}
	if err != nil {
		e.later(over.Abort) // the store must hear of the end
		return err
	}
	defer e.others()
	defer over.Abort()
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.borrowed > 0 {
		return fmt.Errorf("%w: %d read it, by Hold.Weights or Checksum: wait for their end", weights.ErrInUse, e.borrowed)
	}
	s := e.session.Load()
	if s.ended() {
		<-s.freed // as in openStore
		return e.awake(e.overwrite(s, over, o.KV, send))
	}
	ctx, cancel := e.untilClosed(ctx)
	defer cancel()
	return e.awake(e.exchange(ctx, s, func() error { return e.overwrite(s, over, o.KV, send) }))
}

// paced is send that gives way to steps.
func (e *Engine) paced(send weights.Send) weights.Send {
	return func(put weights.Put) error {
		p := pace{engine: e}
		return send(func(name, dtype string, shape []int, offset int, data []byte) error {
			return inPieces(offset, data, func(offset int, data []byte) (time.Duration, error) {
				began := time.Now()
				err := put(name, dtype, shape, offset, data)
				return p.rest(time.Since(began)), err
			})
		})
	}
}

// overwrite writes what was checked, and lets it compute. Nothing computes meanwhile.
func (e *Engine) overwrite(s *session, over *weights.Overwrite, kv KVPolicy, send weights.Send) error {
	set, err := over.Write(send.Guarded(e.closing.Err))
	switch {
	case errors.Is(err, weights.ErrBroken):
		e.breaks()
		return fmt.Errorf("%w: %w", ErrBroken, err)
	case err != nil:
		return err
	}
	c := e.commitOf(set, kv)
	if !s.ended() {
		if err = e.load(e.closing, s, set); err == nil {
			err = e.commit(s, c)
		}
		if err != nil && !errors.Is(err, executor.ErrClosed) { // closed: as in install
			e.breaks() // there are no others to compute with
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	e.installed(set, c)
	return nil
}

// breaks notes that there are no weights to compute with.
func (e *Engine) breaks() {
	e.broken.Store(true)
	e.versions.broken()
}
