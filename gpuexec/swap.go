package gpuexec

import (
	"errors"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/executor"
)

// stagingBytes is how much of the device blocks have on their way out, at most.
const stagingBytes = 128 << 20

// swap copies blocks to the host pool and back, on a stream of its own, beside kernels.
//
// A block on its way out is copied within the device first, in the order of the kernels: rows of its own
// step may overwrite it then. A block that comes in waits for the rows of the steps before, and the next
// step waits for it.
type swap struct {
	stream  *cuda.Stream
	staging room
	places  int // of each half of staging
	place   int // bytes
	halves  [2]half
	current int // the half that is filled now, or next

	ready  *cuda.Event // all that blocks which come in wait for
	inside *cuda.Event // those of the last step that had some are there
	due    bool        // no step has waited for that
}

// half is a half of the staging memory: one is filled while the other is copied.
type half struct {
	filled, free *cuda.Event
	outs         []executor.Copy // whose blocks it has
}

// stagingPlaces is how many blocks a half of the staging memory has, and how large they are. Without a host
// pool there is none.
func stagingPlaces(c *Config, l *layout) (places, size int) {
	for i := range l.groups {
		size = max(size, l.groups[i].block)
	}
	return min(c.HostBlocks, max(1, int(min(stagingBytes, c.MaxMemory/32))/2/size)), size
}

// openSwap makes what copies take, beside memory.
func (e *Executor) openSwap() (err error) {
	w := &e.swap
	w.places, w.place = stagingPlaces(&e.config, &e.layout)
	w.staging = room{ctx: e.ctx, what: "blocks on their way to the host", size: e.memory.Staging}
	if w.places == 0 {
		return nil
	}
	if w.stream, err = e.ctx.NewStream(); err != nil {
		return err
	}
	for _, event := range []**cuda.Event{&w.halves[0].filled, &w.halves[0].free, &w.halves[1].filled, &w.halves[1].free, &w.ready, &w.inside} {
		if *event, err = e.ctx.NewEvent(false); err != nil {
			return err
		}
	}
	for i := range w.halves {
		w.halves[i].outs = make([]executor.Copy, 0, w.places)
	}
	return nil
}

// onDevice and onHost are where a block of a group lies.
func (e *Executor) onDevice(group, block int32) cuda.Pointer {
	return e.pool.at + cuda.Pointer(int64(block)*int64(e.layout.groups[group].block))
}

func (e *Executor) onHost(group, block int32) []byte {
	g := &e.layout.groups[group]
	return e.host.mem[g.host+int64(block)*int64(g.block):][:g.block]
}

// copyBlocks runs the copies of a Batch. Those within the device and out of it keep their order; those that
// come in stand behind all: nothing behind one of them touches what it reads or writes.
func (e *Executor) copyBlocks(copies []executor.Copy) error {
	w, ins := &e.swap, 0
	if w.due {
		w.due = false
		if err := e.compute.Wait(w.inside); err != nil {
			return err
		}
	}
	for i := range copies {
		p := &copies[i]
		var err error
		switch p.Kind {
		case executor.CopyOut:
			err = e.stage(p)
		case executor.CopyIn:
			ins++
		default:
			err = e.compute.Copy(e.onDevice(p.Group, p.To), e.onDevice(p.Group, p.From), e.layout.groups[p.Group].block)
		}
		if err != nil {
			return err
		}
	}
	if err := e.unstage(); err != nil || ins == 0 {
		return err
	}
	return e.copyIn(copies)
}

// stage copies a block on its way out to the current half.
func (e *Executor) stage(p *executor.Copy) error {
	w := &e.swap
	h := &w.halves[w.current]
	if len(h.outs) == 0 {
		if err := e.compute.Wait(h.free); err != nil {
			return err
		}
	}
	if err := e.compute.Copy(w.at(len(h.outs)), e.onDevice(p.Group, p.From), e.layout.groups[p.Group].block); err != nil {
		return err
	}
	if h.outs = append(h.outs, *p); len(h.outs) < w.places {
		return nil
	}
	return e.unstage()
}

// at is place i of the current half.
func (w *swap) at(i int) cuda.Pointer {
	return w.staging.at + cuda.Pointer((w.current*w.places+i)*w.place)
}

// unstage copies the current half to the host, and begins the other one.
func (e *Executor) unstage() error {
	w := &e.swap
	h := &w.halves[w.current]
	if len(h.outs) == 0 {
		return nil
	}
	err := errors.Join(e.compute.Record(h.filled), w.stream.Wait(h.filled))
	for i := range h.outs {
		p := &h.outs[i]
		if err == nil {
			err = w.stream.CopyOut(e.onHost(p.Group, p.To), w.at(i))
		}
	}
	h.outs = h.outs[:0]
	w.current = 1 - w.current
	return errors.Join(err, w.stream.Record(h.free))
}

// copyIn enqueues all that come in.
func (e *Executor) copyIn(copies []executor.Copy) error {
	w := &e.swap
	err := errors.Join(e.compute.Record(w.ready), w.stream.Wait(w.ready))
	for i := range copies {
		if p := &copies[i]; p.Kind == executor.CopyIn && err == nil {
			err = w.stream.CopyIn(e.onDevice(p.Group, p.To), e.onHost(p.Group, p.From))
		}
	}
	w.due = true
	return errors.Join(err, w.stream.Record(w.inside))
}

// settle waits until no copy is left, whose memory may then be given back.
func (w *swap) settle() error {
	if w.stream == nil {
		return nil
	}
	w.due = false
	return w.stream.Synchronize()
}

// close gives back what openSwap took, as far as it came, and the staging memory.
func (w *swap) close() []error {
	errs := []error{w.settle(), w.staging.free()}
	for _, event := range []*cuda.Event{w.halves[0].filled, w.halves[0].free, w.halves[1].filled, w.halves[1].free, w.ready, w.inside} {
		if event != nil {
			errs = append(errs, event.Close())
		}
	}
	if w.stream != nil {
		errs = append(errs, w.stream.Close())
	}
	return errs
}
