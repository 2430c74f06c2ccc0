package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// overwrite is an engine.UpdateInPlace whose tensors come by calls, one after the other. The
// engine reads them on a goroutine of its own, by send, which ends with an error when they do
// not come.
type overwrite struct {
	ctx     context.Context
	cancel  context.CancelFunc
	silence time.Duration // how long nothing may come

	times  int           // that all has been sent so far; of the calls
	chunks chan *chunk   // to send; nil: that was all
	ready  chan struct{} // send wants the next one
	done   chan struct{} // closed: the update is over
	err    error         // then: how
}

// chunk is what an engine.Update's Put is given.
type chunk struct {
	name, dtype string
	shape       []int
	offset      int
	data        []byte
}

// overwrite begins an update in place. It is over when ctx ends, at the latest.
func (g *guest) overwrite(ctx context.Context, options engine.UpdateOptions) (engine.Update, error) {
	o := &overwrite{silence: g.options.Limits.Silence, chunks: make(chan *chunk), ready: make(chan struct{}), done: make(chan struct{})}
	o.ctx, o.cancel = context.WithCancel(ctx)
	log := g.log
	g.running.Go(func() {
		defer close(o.done)
		defer o.cancel()
		_, o.err = safely(log, func() (*messages.Reply, error) { return nil, g.engine.UpdateInPlace(o.ctx, options, o.send) })
		if errors.Is(o.err, engine.ErrBroken) {
			log.Error().Err(o.err).Str("version", options.Version).Msg("nothing computes until an update of all tensors has succeeded")
		}
	})
	if o.over() {
		return nil, o.ended()
	}
	return o, nil
}

// send implements weights.Send, for both times.
func (o *overwrite) send(put weights.Put) error {
	for {
		o.ready <- struct{}{} // who gave the one before waits for it
		select {
		case p := <-o.chunks:
			if p == nil {
				return nil
			}
			if err := put(p.name, p.dtype, p.shape, p.offset, p.data); err != nil {
				return err
			}
		case <-o.ctx.Done():
			return o.ctx.Err()
		case <-time.After(o.silence):
			return fmt.Errorf("%w: nothing of them came for %v", weights.ErrMissing, o.silence)
		}
	}
}

// over waits until send wants a chunk, and tells whether the update has ended instead.
func (o *overwrite) over() bool {
	select {
	case <-o.ready:
		return false
	case <-o.done:
		return true
	}
}

// give hands send a chunk, or tells it that all was sent, and waits as over does.
func (o *overwrite) give(p *chunk) bool {
	select {
	case o.chunks <- p:
		return o.over()
	case <-o.done:
		return true
	}
}

// ended is why an update that is over takes nothing more.
func (o *overwrite) ended() error {
	return cmp.Or(o.err, fmt.Errorf("%w: it was committed", weights.ErrClosed))
}

// Dropped implements engine.Update: nothing is kept anyway.
func (o *overwrite) Dropped() string { return "" }

// Put implements engine.Update. Any error ends the update: it says how.
func (o *overwrite) Put(name, dtype string, shape []int, offset int, data []byte) error {
	if o.give(&chunk{name, dtype, shape, offset, data}) {
		return o.ended()
	}
	return nil
}

// again ends the first time, and returns when the second one may begin.
func (o *overwrite) again(ctx context.Context) error {
	if o.times > 0 {
		return fmt.Errorf("%w: an update in place is sent twice, not more often", engine.ErrParams)
	}
	stop := context.AfterFunc(ctx, o.cancel)
	over := o.give(nil)
	switch {
	case !stop(): // nobody waits for it any more
		return ctx.Err()
	case over:
		return o.ended()
	}
	o.times++
	return nil
}

// Missing implements engine.Update.
func (o *overwrite) Missing(context.Context) ([]weights.Gap, error) {
	return nil, fmt.Errorf("%w: an update in place does not tell what is missing: send all, in order", engine.ErrParams)
}

// Commit implements engine.Update. It ends the second time, behind which the end is near.
func (o *overwrite) Commit(context.Context) error {
	if o.times == 0 {
		return fmt.Errorf("%w: an update in place is sent a second time before it is committed", weights.ErrMissing)
	}
	o.times++
	o.give(nil)
	return o.err
}

// Abort implements engine.Update.
func (o *overwrite) Abort() {
	o.cancel()
	<-o.done
}
