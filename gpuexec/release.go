package gpuexec

import (
	"slices"

	"github.com/cbactor/cbactor/cuda"
)

// release gives back everything that was taken, as far as open came, on a thread that the context is
// bound to. Of a device that is lost only the first error is told: the others say the same.
func (e *Executor) release() error {
	e.die()
	var errs []error
	if e.compute != nil { // a step that failed may have left a graph running
		errs = append(errs, e.compute.Synchronize())
	}
	errs = slices.Concat(errs, e.forget(), e.sender.close(), e.swap.close(), e.watch.close(), e.vendor.close())
	for i := range e.steps {
		for _, event := range []*cuda.Event{e.steps[i].arrived, e.steps[i].computed, e.steps[i].done} {
			if event != nil {
				errs = append(errs, event.Close())
			}
		}
	}
	for _, s := range []*cuda.Stream{e.in, e.compute, e.out} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	errs = append(errs, e.pool.free(), e.buffers.free(), e.host.free(), e.stepping.free(), e.adapters.room.free())
	for i := range e.places {
		errs = append(errs, e.places[i].Memory.free())
	}
	if e.kernels != nil {
		errs = append(errs, e.kernels.Close())
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
