package gpuexec

import "errors"

// Sleep implements executor.Sleeper: what it gives back is the device's, or the host's, again. After an
// error it is awake if it was before, unless memory cannot be taken again either.
func (e *Executor) Sleep(kv, weights bool) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	return e.besides(func() error {
		if err := e.check.Sleep(true); err != nil {
			return err
		}
		slept, errs := e.asleep || e.pool.at == 0, e.forget() // they have addresses of what is given back
		if kv {
			errs = append(errs, e.swap.settle(), e.pool.free(), e.host.free(), e.swap.staging.free())
		}
		if weights {
			e.asleep = true
			for i := range e.places {
				e.lie(i, nil)
				errs = append(errs, e.places[i].Memory.free())
			}
		}
		err := errors.Join(errs...)
		if err != nil && !slept {
			err = errors.Join(err, e.takeAgain())
		}
		return err
	})
}

// lie notes where the parameters of place i are; nil: its weights sleep.
func (e *Executor) lie(i int, at *parameters) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.places[i].Ready = at
}

// Wake implements executor.Sleeper. Weights are copied again from the sets that are loaded now. Close
// ends it with executor.ErrClosed.
func (e *Executor) Wake() error {
	e.loading.Lock()
	defer e.loading.Unlock()
	return e.besides(e.takeAgain)
}

// takeCache takes the pools, as far as they are not there.
func (e *Executor) takeCache() error {
	return errors.Join(e.pool.take(), e.host.take(), e.swap.staging.take())
}

// takeAgain takes all memory that was given back; then steps may run.
func (e *Executor) takeAgain() error {
	if err := e.takeCache(); err != nil {
		return err
	}
	for i := range e.places {
		p := &e.places[i]
		if p.Set != nil && p.Ready == nil {
			at, err := e.put(e.life, p.Memory, p.Set)
			if err != nil {
				return err
			}
			e.lie(i, at)
		}
	}
	e.asleep = false
	return e.check.Sleep(false)
}
