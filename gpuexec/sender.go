package gpuexec

import (
	"context"
	"fmt"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/weights"
)

const (
	// sendBuffers are used in turn: one is filled while the other is copied.
	sendBuffers = 2
	// sendBytes is the size of each. A piece of a fill must fit.
	sendBytes = 4 << 20
)

// sender copies weight sets and adapters to the device, beside steps, on a stream of its own.
type sender struct {
	stream  *cuda.Stream
	memory  pinned
	sent    [sendBuffers]*cuda.Event // the copy of a buffer
	current int                      // buffer
}

func (w *sender) open(ctx *cuda.Context) (err error) {
	w.memory = pinned{ctx: ctx, what: "copying weights", size: sendBuffers * sendBytes}
	if err = w.memory.take(); err != nil {
		return err
	}
	if w.stream, err = ctx.NewStream(); err != nil {
		return err
	}
	for i := range w.sent {
		if w.sent[i], err = ctx.NewEvent(false); err != nil {
			return err
		}
	}
	return nil
}

// send copies a set to where its parameters were laid out, and waits until all is there. It runs on a
// thread that the context is bound to, and ends early when ctx ends.
func (w *sender) send(ctx context.Context, fills []fill, set *weights.Set) error {
	from := &filler{set: set}
	for i := range fills {
		if err := w.fill(ctx, &fills[i], from); err != nil {
			return err
		}
	}
	return w.stream.Synchronize()
}

// fill sends one part.
func (w *sender) fill(ctx context.Context, f *fill, from *filler) error {
	return w.rows(ctx, f.at, f.pieceBytes(), f.pieces(), func(dst []byte, i int) { from.piece(f, dst, i) })
}

// rows sends n pieces of the same size that row writes, as many at a time as a buffer holds.
func (w *sender) rows(ctx context.Context, to cuda.Pointer, size, n int, row func(dst []byte, i int)) error {
	if size > sendBytes {
		return fmt.Errorf("%w: a part of %d bytes is larger than a buffer for copies, %d", ErrModel, size, sendBytes)
	}
	for first := 0; first < n; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		w.current = (w.current + 1) % sendBuffers
		if err := w.sent[w.current].Synchronize(); err != nil {
			return err
		}
		buffer := w.memory.mem[w.current*sendBytes:][:min(n-first, sendBytes/size)*size]
		for at := 0; at < len(buffer); at += size {
			row(buffer[at:][:size], first+at/size)
		}
		if err := w.stream.CopyIn(to+cuda.Pointer(first*size), buffer); err != nil {
			return err
		}
		if err := w.stream.Record(w.sent[w.current]); err != nil {
			return err
		}
		first += len(buffer) / size
	}
	return nil
}

// close gives back what open took, as far as it came.
func (w *sender) close() []error {
	var errs []error
	for _, e := range w.sent {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	if w.stream != nil {
		errs = append(errs, w.stream.Close())
	}
	return append(errs, w.memory.free())
}
