package gpuexec

import (
	"context"
	"errors"
	"runtime"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// places are where weight sets lie on the device.
type places = executor.Places[*room, parameters]

// Load implements executor.Loader. The set is copied beside steps. While weights sleep, that is left to
// Wake. ctx is looked at between buffers. Errors wrap ErrConfig for a set that is not the model's,
// executor.ErrMemory, and those of package cuda.
func (e *Executor) Load(ctx context.Context, set *weights.Set) error {
	if err := checkSet(e.config.Model, set); err != nil {
		return err
	}
	e.loading.Lock()
	defer e.loading.Unlock()
	return e.besides(func() error { return e.load(ctx, set) })
}

// load is Load, on a thread that the context is bound to.
func (e *Executor) load(ctx context.Context, set *weights.Set) error {
	p, err := e.placeFor(set)
	if err != nil {
		return err
	}
	at := p.Ready
	if p.Set == nil && !e.asleep {
		ctx, cancel := e.until(ctx)
		defer cancel()
		if at, err = e.put(ctx, p.Memory, set); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return executor.ErrClosed
	}
	if err := e.check.Load(set.Epoch); err != nil {
		return err
	}
	p.Hold(set, at)
	return nil
}

// put copies a set to a place, whose memory it takes unless it is there.
func (e *Executor) put(ctx context.Context, r *room, set *weights.Set) (*parameters, error) {
	if err := r.take(); err != nil {
		return nil, err
	}
	at, fills, _ := layParameters(&e.config, r.at)
	return at, e.sender.send(ctx, fills, set)
}

// placeFor is where a set lies already, or can.
func (e *Executor) placeFor(set *weights.Set) (*executor.Place[*room, parameters], error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.places.For(set)
}

// Drop implements executor.Loader.
func (e *Executor) Drop(epoch uint32) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return executor.ErrClosed
	}
	if err := e.check.Drop(epoch); err != nil {
		return err
	}
	e.places.Drop(epoch)
	return nil
}

// weightsOf is what to compute with in an epoch, which is loaded.
func (e *Executor) weightsOf(epoch uint32) *parameters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.places.Of(epoch)
}

// besides runs fn beside steps, on a thread that the context is bound to. Nothing is given back before it
// returns; if the executor was closed meanwhile, who is the last to use it answers what failed of that, too.
func (e *Executor) besides(fn func() error) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return executor.ErrClosed
	}
	e.beside++
	e.mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := e.ctx.Bind()
	if err == nil {
		err = fn()
	}
	e.mu.Lock()
	e.beside--
	last := e.idle()
	e.changed.Broadcast()
	e.mu.Unlock()
	return errors.Join(err, e.awaitRelease(last))
}

// until is a context that also ends when the executor is closed.
func (e *Executor) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.life, func() { cancel(executor.ErrClosed) })
	if e.life.Err() != nil { // and not only soon
		cancel(executor.ErrClosed)
	}
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
