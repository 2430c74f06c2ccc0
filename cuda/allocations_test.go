package cuda_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/cuda/emu"
)

// What a step calls allocates nothing.
func TestCallsAllocateNothing(t *testing.T) {
	r := newRig(t, emu.Options{Schedule: emu.Eager})
	_, e, _ := r.second()
	x, y := r.vector(1, 2, 3), r.vector(0, 0, 0)
	f := r.function("axpy")
	g, err := r.stream.Capture(func() error { return r.axpy(r.stream, f, y, x, 1) })
	r.ok(err)
	step := func() {
		r.ok(errors.Join(
			r.stream.CopyIn(x.device, x.host), r.axpy(r.stream, f, y, x, 1), g.Launch(r.stream),
			r.stream.Copy(y.device, x.device, 4), r.stream.CopyOut(y.host, y.device),
			r.stream.Record(e), r.stream.Wait(e), e.Synchronize(), r.stream.Synchronize()))
	}
	if n := testing.AllocsPerRun(10, step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
	r.ok(g.Close())
}
