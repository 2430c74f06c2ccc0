package cuda_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

// A kernel's result comes back from the device, whatever the schedule.
func TestKernelRuns(t *testing.T) {
	for _, o := range []emu.Options{{}, {Schedule: emu.Eager}, {Schedule: emu.Hasty}, {Protect: true}, {Order: 1}, {Order: 7}, {PTX: kernels + "/all.ptx"}} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			r := newRig(t, o)
			const n = 1000
			x, y := r.vector(ascending(n)...), r.vector(make([]float32, n)...)
			r.ok(r.stream.CopyIn(x.device, x.host))
			r.ok(r.stream.CopyIn(y.device, y.host))
			r.ok(r.axpy(r.stream, r.function("axpy"), y, x, 2))
			r.ok(r.stream.CopyOut(y.host, y.device))
			r.ok(r.stream.Synchronize())
			for i := range n {
				if y.at(i) != 2*float32(i) {
					t.Fatalf("element %d is %v", i, y.at(i))
				}
			}
		})
	}
}

func TestSharedMemory(t *testing.T) {
	for _, o := range []emu.Options{{}, {Order: 1}, {Order: 7}, {PTX: kernels + "/all.ptx"}} {
		r := newRig(t, o)
		const n = 512
		in, out := r.vector(ascending(n)...), r.vector(make([]float32, n)...)
		r.ok(r.stream.CopyIn(in.device, in.host))
		r.ok(r.function("reversed").Launch(r.stream, cuda.Grid{X: 2, Y: 1, Z: 1}, cuda.Grid{X: 256, Y: 1, Z: 1}, 0,
			cuda.Address(out.device), cuda.Address(in.device)))
		r.ok(r.stream.CopyOut(out.host, out.device))
		r.ok(r.stream.Synchronize())
		for i := range n {
			if want := float32(i/256*256 + 255 - i%256); out.at(i) != want {
				t.Fatalf("%+v: element %d is %v, not %v", o, i, out.at(i), want)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	r := newRig(t, emu.Options{})
	u, err := r.function("reversed").Usage()
	r.ok(err)
	if u.Registers < 1 || u.Shared != 1024 || u.Local != 0 {
		t.Errorf("reversed uses %+v", u)
	}
}

func TestLaunchesThatNoDeviceDoes(t *testing.T) {
	r := newRig(t, emu.Options{})
	f, one := r.function("axpy"), cuda.Grid{X: 1, Y: 1, Z: 1}
	args := make([]cuda.Arg, 4)
	for name, try := range map[string]func() error{
		"no blocks":                 func() error { return f.Launch(r.stream, cuda.Grid{}, one, 0, args...) },
		"too many threads":          func() error { return f.Launch(r.stream, one, cuda.Grid{X: 1024, Y: 2, Z: 1}, 0, args...) },
		"too much shared memory":    func() error { return f.Launch(r.stream, one, one, 48<<10+1, args...) },
		"more shared than a device": func() error { return f.AllowShared(227<<10 + 1) },
	} {
		code(t, name, try(), "CUDA_ERROR_INVALID_VALUE")
	}
	if !emu.Hardware() { // whose driver reads what is not there, and leaves what there is too much
		for _, n := range []int{3, 5} {
			code(t, fmt.Sprint(n, " arguments of 4"), f.Launch(r.stream, one, one, 0, make([]cuda.Arg, n)...), "CUDA_ERROR_INVALID_VALUE")
		}
	}
	if err := f.Launch(r.stream, one, one, 0, make([]cuda.Arg, 65)...); !errors.Is(err, cuda.ErrCall) {
		t.Errorf("65 arguments: %v", err)
	}
	r.ok(f.AllowShared(100 << 10))
}

// code checks which error of the driver an error is.
func code(t *testing.T, what string, err error, name string) {
	t.Helper()
	if e := (*cuda.Error)(nil); !errors.As(err, &e) || e.Name != name {
		t.Errorf("%s: %v, want %s", what, err, name)
	}
}
