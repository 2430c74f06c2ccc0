package cpuexec

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// place is where a weight set is ready to compute with. Sets of several epochs are
// there when they are the same memory.
type place struct {
	set    *weights.Set // nil: it is free
	packed *packed      // what is derived from it; nil: weights sleep
	epochs []uint32
}

// Load implements executor.Loader. It packs on the caller's goroutine, which gives way
// to steps: while there are any it rests two thirds of the time. While weights sleep,
// it leaves that to Wake. Errors wrap ErrConfig for a set that is not the model's, and
// ErrMemory.
func (e *Executor) Load(set *weights.Set) error {
	if err := checkSet(e.config.Model, set); err != nil {
		return err
	}
	e.loading.Lock()
	defer e.loading.Unlock()
	p, err := e.placeFor(set)
	if err != nil {
		return err
	}
	w, there := p.packed, p.set != nil
	if !there && !e.unpacked {
		d := dimsOf(e.config.Model)
		if w, err = newPacked(&e.config, &d, set, e.memory.Weights, e.giveWay()); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	err = executor.ErrClosed
	if !e.closed {
		err = e.check.Load(set.Epoch)
	}
	switch {
	case err != nil && there:
		return err
	case err != nil:
		return errors.Join(err, (&place{packed: w}).unpack())
	}
	p.packed, p.set, p.epochs = w, set, append(p.epochs, set.Epoch)
	return nil
}

// placeFor is where a set lies already, or can.
func (e *Executor) placeFor(set *weights.Set) (free *place, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, executor.ErrClosed
	}
	for i := range e.places {
		switch p := &e.places[i]; {
		case p.set == nil:
			free = p
		case set.Same(p.set):
			return p, nil
		}
	}
	if free == nil {
		return nil, fmt.Errorf("%w: there are %d (weight_sets), drop a set before", executor.ErrFull, len(e.places))
	}
	return free, nil
}

// giveWay is called now and then by who packs beside steps. It tells when to stop.
func (e *Executor) giveWay() func() error {
	began := time.Now()
	return func() error {
		worked := time.Since(began)
		if worked < time.Millisecond {
			return nil
		}
		e.mu.Lock()
		closed, busy := e.closed, e.running || len(e.queue) > 0
		e.mu.Unlock()
		if closed {
			return executor.ErrClosed
		}
		if busy {
			time.Sleep(2 * worked)
		}
		began = time.Now()
		return nil
	}
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
	for i := range e.places {
		p := &e.places[i]
		at := slices.Index(p.epochs, epoch)
		if at < 0 {
			continue
		}
		if p.epochs = slices.Delete(p.epochs, at, at+1); len(p.epochs) == 0 {
			return p.empty()
		}
	}
	return nil
}

// empty gives a place up.
func (p *place) empty() error {
	err := p.unpack()
	*p = place{}
	return err
}

// unpack gives the memory of a place back, which stays the set's.
func (p *place) unpack() error {
	w := p.packed
	if p.packed = nil; w == nil {
		return nil
	}
	return w.area.free()
}

// packAgain takes the memory of a place again that unpack gave back.
func (p *place) packAgain(e *Executor) (err error) {
	if p.set != nil && p.packed == nil {
		d := dimsOf(e.config.Model)
		p.packed, err = newPacked(&e.config, &d, p.set, e.memory.Weights, nil)
	}
	return err
}

// weightsOf is what to compute with in an epoch, which is loaded.
func (e *Executor) weightsOf(epoch uint32) *packed {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.places, func(p place) bool { return slices.Contains(p.epochs, epoch) })
	return e.places[i].packed
}
