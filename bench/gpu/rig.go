package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
)

// rig is a bound device on which kernels are timed. Memory of take is given back by close.
type rig struct {
	device *cuda.Device
	ctx    *cuda.Context
	set    *kernels.Set
	stream *cuda.Stream
	from   *cuda.Event
	to     *cuda.Event
	taken  []cuda.Pointer
	data   []byte       // random
	times  int          // that something runs in a graph
	spread int          // bytes, more than the L2 cache has
	swept  cuda.Pointer // as many, which are written between two runs: what one has read, the next finds in memory
	err    error        // the first of what take and room met
}

// newRig needs a thread that is locked.
func newRig(d *cuda.Device, data []byte, p *plan) (*rig, error) {
	r := &rig{device: d, data: data, times: p.times, spread: p.spread}
	return r, r.open()
}

func (r *rig) open() (err error) {
	if r.ctx, err = r.device.Retain(); err != nil {
		return err
	}
	if err = r.ctx.Bind(); err != nil {
		return err
	}
	if r.set, err = kernels.Load(r.ctx, r.device); err != nil {
		return err
	}
	if r.stream, err = r.ctx.NewStream(); err != nil {
		return err
	}
	if r.from, err = r.ctx.NewEvent(true); err != nil {
		return err
	}
	if r.to, err = r.ctx.NewEvent(true); err != nil {
		return err
	}
	r.swept = r.room(r.spread)
	return r.err
}

// close gives everything back.
func (r *rig) close() error {
	var errs []error
	for _, p := range r.taken {
		errs = append(errs, r.ctx.Free(p))
	}
	for _, e := range []*cuda.Event{r.from, r.to} {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	if r.stream != nil {
		errs = append(errs, r.stream.Close())
	}
	if r.set != nil {
		errs = append(errs, r.set.Close())
	}
	if r.ctx != nil {
		errs = append(errs, r.ctx.Close())
	}
	return errors.Join(errs...)
}

// take is memory of the device, full of random numbers of bf16.
func (r *rig) take(bytes int) cuda.Pointer {
	p := r.room(bytes)
	for at := 0; at < bytes && r.err == nil; at += len(r.data) {
		r.err = r.stream.CopyIn(p+cuda.Pointer(at), r.data[:min(len(r.data), bytes-at)])
	}
	return p
}

// room is memory of the device, zeros.
func (r *rig) room(bytes int) cuda.Pointer {
	if r.err != nil {
		return 0
	}
	p, err := r.ctx.Alloc(bytes)
	if err != nil {
		r.err = fmt.Errorf("%d bytes: %w", bytes, err)
		return 0
	}
	r.taken = append(r.taken, p)
	r.err = r.stream.Fill(p, 0, bytes)
	return p
}

// ints is memory of the device with such numbers.
func (r *rig) ints(numbers []int32) cuda.Pointer {
	p := r.room(4 * len(numbers))
	if r.err == nil {
		r.err = r.stream.CopyIn(p, bytesOf(numbers))
	}
	return p
}

// give gives memory back.
func (r *rig) give(list ...cuda.Pointer) error {
	for _, p := range list {
		r.taken = slices.DeleteFunc(r.taken, func(q cuda.Pointer) bool { return q == p })
		if err := r.ctx.Free(p); err != nil {
			return err
		}
	}
	return nil
}

// rounds is how often a graph is timed.
const rounds = 5

// time is the device's time of one of the launches that enqueue makes, each of which is told which of
// many it is: the median over some runs of a graph of them.
func (r *rig) time(enqueue func(i int) error) (time.Duration, error) {
	if err := errors.Join(r.err, enqueue(0), r.stream.Synchronize()); err != nil { // what is launched first is loaded
		return 0, err
	}
	g, err := r.stream.Capture(func() error {
		for i := range r.times {
			if err := enqueue(i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	var took []time.Duration
	for range rounds {
		if err := errors.Join(r.stream.Fill(r.swept, 0, r.spread), r.stream.Record(r.from), g.Launch(r.stream), r.stream.Record(r.to), r.to.Synchronize()); err != nil {
			return 0, errors.Join(err, g.Close())
		}
		one, err := cuda.Elapsed(r.from, r.to)
		if err != nil {
			return 0, errors.Join(err, g.Close())
		}
		took = append(took, one)
	}
	slices.Sort(took)
	return max(time.Nanosecond, took[rounds/2]/time.Duration(r.times)), g.Close() // a clock may be too coarse: rates are divided by it
}
