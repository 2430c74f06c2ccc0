package cublaslt_test

import (
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/emu"
)

// rig is a fake cublasLt on a fake device, with a bound context and a stream.
type rig struct {
	*testing.T
	driver    *emu.Driver
	library   *emu.CublasLt
	ctx       *cuda.Context
	stream    *cuda.Stream
	handle    *cublaslt.Handle
	workspace cuda.Pointer
	loses     bool // the test loses the device, to which nothing can be given back then
}

// newRig closes all that it made when the test ends, and tells what the test has left open.
func newRig(t *testing.T, o emu.Options) *rig {
	t.Helper()
	r := &rig{T: t, driver: emu.Open(t, o)}
	r.library = r.driver.CublasLt(t)
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	device, err := r.driver.Device(0)
	r.ok(err)
	r.ctx, err = device.Retain()
	r.ok(err)
	r.ok(r.ctx.Bind())
	r.stream, err = r.ctx.NewStream()
	r.ok(err)
	lib, err := cublaslt.Open(r.library.Path)
	r.ok(err)
	r.handle, err = lib.NewHandle()
	r.ok(err)
	r.workspace = r.room(cublaslt.Workspace)
	t.Cleanup(func() {
		if r.loses {
			return
		}
		r.ok(r.handle.Close())
		r.ok(r.stream.Close())
		r.ok(r.ctx.Free(r.workspace))
		r.ok(r.ctx.Close())
		if c := r.driver.Counts(); c.Handles != 0 || c.Allocations != 0 {
			r.Errorf("%d handles and %d allocations were never given back", c.Handles, c.Allocations)
		}
	})
	return r
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) room(bytes int) cuda.Pointer {
	r.Helper()
	p, err := r.ctx.Alloc(bytes)
	r.ok(err)
	return p
}

// sizes are those of a product: m rows of k numbers, with a matrix of n rows.
type sizes struct{ m, n, k int }

// operands are a product's memory.
type operands struct{ a, w, out cuda.Pointer }

// number is what lies at place i of a factor, in bf16.
func number(i int) float32 { return float32(i*37%64-32) / 16 }

func (r *rig) operands(s sizes) operands {
	r.Helper()
	o := operands{r.factor(s.m * s.k), r.factor(s.n * s.k), r.room(4 * s.m * s.n)}
	r.Cleanup(func() {
		for _, p := range []cuda.Pointer{o.a, o.w, o.out} {
			if !r.loses {
				r.ok(r.ctx.Free(p))
			}
		}
	})
	return o
}

func (r *rig) factor(n int) cuda.Pointer {
	r.Helper()
	host := make([]uint16, n)
	for i := range host {
		host[i] = uint16(math.Float32bits(number(i)) >> 16)
	}
	p := r.room(2 * n)
	r.ok(r.stream.CopyIn(p, unsafe.Slice((*byte)(unsafe.Pointer(&host[0])), 2*n)))
	r.ok(r.stream.Synchronize())
	return p
}

// result is what lies at out.
func (r *rig) result(s sizes, o operands) []float32 {
	r.Helper()
	got := make([]float32, s.m*s.n)
	r.ok(r.stream.CopyOut(unsafe.Slice((*byte)(unsafe.Pointer(&got[0])), 4*len(got)), o.out))
	r.ok(r.stream.Synchronize())
	return got
}

// wants compares with the product in float64.
func (r *rig) wants(s sizes, got []float32) {
	r.Helper()
	for i, v := range got {
		want := 0.0
		for k := range s.k {
			want += float64(number(i/s.n*s.k+k)) * float64(number(i%s.n*s.k+k))
		}
		if !(math.Abs(float64(v)-want) < 1e-3*(1+math.Abs(want))) {
			r.Fatalf("%v: number %d is %g, want %g", s, i, v, want)
		}
	}
}
