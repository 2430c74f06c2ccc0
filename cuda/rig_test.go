package cuda_test

import (
	"encoding/binary"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

const kernels = "emu/testdata/kernels"

// rig is a fake device with a bound context, the tests' kernels and a stream.
type rig struct {
	*testing.T
	driver *emu.Driver
	ctx    *cuda.Context
	module *cuda.Module
	stream *cuda.Stream
}

// newRig closes all that it made when the test ends, and tells what the test has left open.
func newRig(t *testing.T, o emu.Options) *rig {
	t.Helper()
	o.Kernels = kernels
	r := &rig{T: t, driver: emu.Open(t, o)}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	device, err := r.driver.Device(0)
	r.ok(err)
	r.ctx, err = device.Retain()
	r.ok(err)
	r.ok(r.ctx.Bind())
	r.module, err = r.ctx.Load(r.image(imageFor(device, o)))
	r.ok(err)
	r.stream, err = r.ctx.NewStream()
	r.ok(err)
	t.Cleanup(r.close)
	return r
}

func (r *rig) close() {
	r.Helper()
	if r.Failed() {
		return
	}
	r.ok(r.ctx.Bind()) // the test may have had another rig since
	r.ok(r.stream.Close())
	r.ok(r.module.Close())
	r.ok(r.ctx.Close())
	if c := r.driver.Counts(); c.Allocations != 0 || c.Handles != 0 {
		r.Errorf("%d allocations and %d handles were never given back", c.Allocations, c.Handles)
	}
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// imageFor is which image of the tests' kernels is loaded: on a real device also the PTX, which
// its driver compiles.
func imageFor(d *cuda.Device, o emu.Options) string {
	if emu.Hardware() && (o.PTX != "" || d.Major != 9) {
		return "all.ptx"
	}
	return "all.cubin"
}

func (r *rig) image(name string) []byte {
	r.Helper()
	b, err := os.ReadFile(kernels + "/" + name)
	r.ok(err)
	return b
}

func (r *rig) function(name string) *cuda.Function {
	r.Helper()
	f, err := r.module.Function(name)
	r.ok(err)
	return f
}

// vector is n floats on the device, and pinned ones to copy from and to.
type vector struct {
	device cuda.Pointer
	host   []byte
}

func (r *rig) vector(values ...float32) vector {
	r.Helper()
	device, err := r.ctx.Alloc(4 * len(values))
	r.ok(err)
	host, err := r.ctx.AllocHost(4 * len(values))
	r.ok(err)
	v := vector{device, host}
	v.set(values...)
	r.Cleanup(func() {
		if !r.Failed() {
			r.ok(r.ctx.Bind()) // the test may have had another rig since
			r.ok(r.ctx.Free(device))
			r.ok(r.ctx.FreeHost(host))
		}
	})
	return v
}

func (v vector) set(values ...float32) {
	for i, x := range values {
		binary.LittleEndian.PutUint32(v.host[4*i:], math.Float32bits(x))
	}
}

func (v vector) at(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(v.host[4*i:]))
}

// axpy enqueues y += a*x.
func (r *rig) axpy(s *cuda.Stream, f *cuda.Function, y, x vector, a float32) error {
	n := len(y.host) / 4
	blocks := cuda.Grid{X: uint32(n+63) / 64, Y: 1, Z: 1}
	return f.Launch(s, blocks, cuda.Grid{X: 64, Y: 1, Z: 1}, 0,
		cuda.Address(y.device), cuda.Address(x.device), cuda.Float(a), cuda.Int(n))
}

// ascending is n floats from 0.
func ascending(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	return v
}
