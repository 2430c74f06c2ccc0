package cpuexec

import (
	"context"
	"errors"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

const (
	// besideShare is the part of a step's time for which panels are packed before the
	// next one.
	besideShare = 8

	// besideRest is how often who waits for that looks whether there still are steps.
	besideRest = 2 * time.Millisecond
	// besidePatience is how long it waits for a step to fill some.
	besidePatience = 500 * time.Millisecond
)

// place is where a weight set is packed. A free one keeps its area, since fresh memory costs more
// than packing.
type place = executor.Place[*area, packed]

// Load implements executor.Loader. The set is packed between steps, by the threads that
// compute them, and while there is none by the caller. While weights sleep, that is left
// to Wake. ctx is looked at between panels. Errors wrap ErrConfig for a set that is not the
// model's, and ErrMemory.
func (e *Executor) Load(ctx context.Context, set *weights.Set) error {
	if err := checkSet(e.config.Model, set); err != nil {
		return err
	}
	e.loading.Lock()
	defer e.loading.Unlock()
	p, err := e.placeFor(set)
	if err != nil {
		return err
	}
	w := p.Ready
	if p.Set == nil && !e.unpacked {
		if w, err = e.packBeside(ctx, p.Memory, set); err != nil {
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
	p.Hold(set, w)
	return nil
}

// placeFor is where a set lies already, or can.
func (e *Executor) placeFor(set *weights.Set) (*place, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, executor.ErrClosed
	}
	return e.places.For(set)
}

// packBeside packs a set while steps may run. No memory is freed meanwhile. It ends
// early when ctx ends or the executor is closed.
func (e *Executor) packBeside(ctx context.Context, a *area, set *weights.Set) (*packed, error) {
	e.mu.Lock()
	e.packing++
	e.mu.Unlock()
	w, panels, err := e.layOut(a, set)
	if err == nil {
		err = e.fillBeside(ctx, panels)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.packing--
	return w, errors.Join(err, e.release())
}

// fillBeside has the threads of steps fill panels, and does it itself while there is no
// step, or none that gets on: whoever takes results may wait for what is loaded.
func (e *Executor) fillBeside(ctx context.Context, p *packing) error {
	defer p.stop()
	e.beside.Store(p)
	defer e.beside.Store(nil)
	tile := make([]float32, tileLen)
	for taken, moved := int64(0), time.Now(); !p.over(); {
		e.mu.Lock()
		closed, busy := e.closed, e.running || len(e.queue) > 0
		e.mu.Unlock()
		if now := p.taken.Load(); busy && now != taken {
			taken, moved = now, time.Now()
		}
		switch {
		case closed:
			return executor.ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		case busy && time.Since(moved) < besidePatience:
			time.Sleep(besideRest)
		default:
			p.one(tile)
			taken++
		}
	}
	return nil
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

// unpack gives the memory of a place back, which stays the set's.
func unpack(p *place) error {
	p.Ready = nil
	return p.Memory.free()
}

// packAgain takes the memory of a place again that unpack gave back.
func (e *Executor) packAgain(p *place) (err error) {
	if p.Set != nil && p.Ready == nil {
		p.Ready, err = e.packNow(p.Memory, p.Set)
	}
	return err
}

// weightsOf is what to compute with in an epoch, which is loaded.
func (e *Executor) weightsOf(epoch uint32) *packed {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.places.Of(epoch)
}
