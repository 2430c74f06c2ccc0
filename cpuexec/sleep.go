package cpuexec

import (
	"errors"

	"github.com/cbactor/cbactor/executor"
)

// Sleep implements executor.Sleeper: what it gives back is mapped no more. After an error
// it is awake if it was before, unless memory cannot be taken again either.
func (e *Executor) Sleep(kv, weights bool) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	if err := e.check.Sleep(true); err != nil {
		return err
	}
	return e.idle(func() error {
		slept, errs := e.unpacked || e.step.cache.mem == nil, []error(nil)
		if kv {
			e.step.cache.mem, e.step.cache.host = nil, nil
			errs = append(errs, e.kv.free(), e.host.free())
		}
		if weights {
			e.unpacked = true
			for i := range e.places {
				errs = append(errs, unpack(&e.places[i]))
			}
		}
		err := errors.Join(errs...)
		if err != nil && !slept {
			err = errors.Join(err, e.takeAgain())
		}
		return err
	})
}

// Wake implements executor.Sleeper. Weights are packed again from the sets that
// are loaded now, which takes as long as in New.
func (e *Executor) Wake() error {
	e.loading.Lock()
	defer e.loading.Unlock()
	return e.idle(e.takeAgain)
}

// takeAgain takes all memory that was given back; then steps may run.
func (e *Executor) takeAgain() error {
	c, d := &e.config, dimsOf(e.config.Model)
	for _, a := range []*area{e.kv, e.host} {
		if err := a.take(); err != nil {
			return err
		}
	}
	if e.step.cache.mem == nil {
		e.step.cache = newCache(e.kv, e.host, c, &d, &e.memory)
	}
	for i := range e.places {
		if err := e.packAgain(&e.places[i]); err != nil {
			return err
		}
	}
	e.unpacked = false
	return e.check.Sleep(false)
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
