package cpuexec

import (
	"errors"

	"github.com/cbactor/cbactor/executor"
)

// Sleep implements executor.Sleeper: what it gives back is mapped no more.
func (e *Executor) Sleep(kv, weights bool) error {
	if err := e.check.Sleep(true); err != nil {
		return err
	}
	return e.idle(func() error {
		var errs []error
		if kv {
			e.step.cache.mem, e.step.cache.host = nil, nil
			errs = append(errs, e.kv.free(), e.host.free())
		}
		if weights {
			errs = append(errs, e.step.weights.area.free())
		}
		return errors.Join(errs...)
	})
}

// Wake implements executor.Sleeper. Weights are packed again from the set as it is
// now, which takes as long as in New.
func (e *Executor) Wake() error {
	return e.idle(func() error {
		c, d := &e.config, dimsOf(e.config.Model)
		packed := e.step.weights.area.mem != nil
		for _, a := range []*area{e.kv, e.host, e.step.weights.area} {
			if err := a.take(); err != nil {
				return err
			}
		}
		if e.step.cache.mem == nil {
			e.step.cache = newCache(e.kv, e.host, c, &d, e.memory.Blocks)
		}
		if !packed {
			e.step.weights = pack(c, &d, e.step.weights.area)
		}
		return e.check.Sleep(false)
	})
}

// idle runs fn while no step runs. Close frees nothing before it returns.
func (e *Executor) idle(fn func() error) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return executor.ErrClosed
	}
	e.running = true
	e.mu.Unlock()
	err := fn()
	return errors.Join(err, e.ended())
}
