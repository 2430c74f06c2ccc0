package cuda_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

// A graph does its work on what lies in memory when it runs.
func TestGraph(t *testing.T) {
	for _, schedule := range []emu.Schedule{emu.Lazy, emu.Eager, emu.Hasty} {
		r := newRig(t, emu.Options{Schedule: schedule})
		x, y := r.vector(0, 0, 0), r.vector(1, 1, 1)
		f := r.function("axpy")
		g, err := r.stream.Capture(func() error {
			return errors.Join(
				r.stream.CopyIn(x.device, x.host), r.stream.CopyIn(y.device, y.host),
				r.axpy(r.stream, f, y, x, 10), r.stream.CopyOut(y.host, y.device))
		})
		r.ok(err)
		if n := r.driver.Counts().Launches; n != 0 {
			t.Errorf("capturing has run %d kernels", n)
		}
		r.ok(g.Upload(r.stream))
		for round := range 3 {
			x.set(float32(round), 1, 2)
			y.set(1, 1, 1)
			r.ok(g.Launch(r.stream))
			r.ok(r.stream.Synchronize())
			if y.at(0) != 1+10*float32(round) || y.at(2) != 21 {
				t.Errorf("round %d: %v and %v", round, y.at(0), y.at(2))
			}
		}
		r.ok(g.Close())
	}
}

// A graph is not destroyed while it runs: its memory would not be free.
func TestGraphIsClosedBehindItsEnd(t *testing.T) {
	emu.Only(t, "a driver frees it later")
	r := newRig(t, emu.Options{})
	x := r.vector(1, 2)
	g, err := r.stream.Capture(func() error { return r.stream.CopyIn(x.device, x.host) })
	r.ok(err)
	r.ok(g.Launch(r.stream))
	code(t, "it runs", g.Close(), "CUDA_ERROR_ILLEGAL_STATE")
	r.ok(r.stream.Synchronize())
	r.ok(g.Close())
}

// Streams that part and come back are one graph.
func TestGraphOfTwoStreams(t *testing.T) {
	r := newRig(t, emu.Options{})
	other, parted, back := r.second()
	x, y := r.vector(1, 2), r.vector(0, 0)
	f := r.function("axpy")
	g, err := r.stream.Capture(func() error {
		return errors.Join(
			r.stream.CopyIn(x.device, x.host), r.stream.Record(parted), other.Wait(parted),
			other.CopyIn(y.device, y.host), other.Record(back), r.stream.Wait(back),
			r.axpy(r.stream, f, y, x, 3), r.stream.CopyOut(y.host, y.device))
	})
	r.ok(err)
	r.ok(g.Launch(r.stream))
	r.ok(r.stream.Synchronize())
	if y.at(0) != 3 || y.at(1) != 6 {
		t.Errorf("%v and %v", y.at(0), y.at(1))
	}
	r.ok(g.Close())
}

// Captures that break a rule answer with an error, and leave the stream as it was.
func TestBrokenCaptures(t *testing.T) {
	r := newRig(t, emu.Options{})
	other, parted, back := r.second()
	x := r.vector(1)
	own := errors.New("the caller's own")
	for name, c := range map[string]struct {
		enqueue func() error
		want    string // of the driver; empty: own
	}{
		"the caller fails":    {func() error { return own }, ""},
		"memory is taken":     {func() error { _, err := r.ctx.Alloc(16); return err }, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
		"it is waited for":    {r.stream.Synchronize, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
		"all is waited for":   {r.ctx.Synchronize, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
		"a failure is hidden": {func() error { _ = r.stream.Synchronize(); return nil }, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"}, // on purpose
		"a stream stays away": {func() error { return errors.Join(r.stream.Record(parted), other.Wait(parted)) }, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
		"it waits for what is not captured": {func() error { return errors.Join(other.Record(back), r.stream.Wait(back)) },
			"CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
		"memory is pageable": {func() error { return r.stream.CopyIn(x.device, make([]byte, 4)) }, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
	} {
		g, err := r.stream.Capture(c.enqueue)
		if g != nil {
			t.Errorf("%s: there is a graph", name)
		}
		if c.want == "" && !errors.Is(err, own) {
			t.Errorf("%s: %v", name, err)
		} else if c.want != "" {
			code(t, name, err, c.want)
		}
		r.ok(r.stream.CopyIn(x.device, x.host))
		r.ok(r.stream.Synchronize())
		r.ok(other.Synchronize())
	}
}

// second is another stream with two events, closed when the test ends.
func (r *rig) second() (*cuda.Stream, *cuda.Event, *cuda.Event) {
	r.Helper()
	s, err := r.ctx.NewStream()
	r.ok(err)
	var events [2]*cuda.Event
	for i := range events {
		events[i], err = r.ctx.NewEvent(false)
		r.ok(err)
	}
	r.Cleanup(func() {
		if !r.Failed() {
			r.ok(errors.Join(s.Close(), events[0].Close(), events[1].Close()))
		}
	})
	return s, events[0], events[1]
}
