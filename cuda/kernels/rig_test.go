package kernels

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cubin"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/model"
)

// rig is a device with the kernels loaded.
type rig struct {
	*testing.T
	device *cuda.Device
	ctx    *cuda.Context
	stream *cuda.Stream
	set    *Set
	taken  []cuda.Pointer
	random *rand.Rand
	broken bool // the device may be lost, which is no failure
}

func newRig(t *testing.T, o emu.Options) *rig {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	r := &rig{T: t, random: rand.New(rand.NewPCG(1, 2))}
	device, err := emu.Open(t, o).Device(0)
	r.ok(err)
	r.device = device
	r.ctx, err = device.Retain()
	r.ok(err)
	r.ok(r.ctx.Bind())
	r.stream, err = r.ctx.NewStream()
	r.ok(err)
	r.set, err = loadFor(r.ctx, device, o)
	r.ok(err)
	t.Cleanup(r.close)
	return r
}

func (r *rig) close() {
	r.Helper()
	if r.Failed() || r.broken {
		return
	}
	for _, p := range r.taken {
		r.ok(r.ctx.Free(p))
	}
	r.ok(r.set.Close())
	r.ok(r.stream.Close())
	r.ok(r.ctx.Close())
}

// loadFor loads the kernels; on a real device PTX, where options name it.
func loadFor(ctx *cuda.Context, device *cuda.Device, o emu.Options) (*Set, error) {
	if !emu.Hardware() || o.PTX == "" {
		return Load(ctx, device)
	}
	image, err := os.ReadFile(o.PTX)
	if err != nil {
		return nil, err
	}
	return load(ctx, image)
}

// onBoth runs a test on the shim, whose threads run in several orders, and on the
// interpreter of the PTX. On a real device it runs by the cubin, and by the PTX.
func onBoth(t *testing.T, test func(r *rig)) {
	if emu.Hardware() {
		t.Run("cubin", func(t *testing.T) { test(newRig(t, emu.Options{})) })
		t.Run("ptx", func(t *testing.T) { test(newRig(t, emu.Options{PTX: ptxFile(t)})) })
		return
	}
	t.Run("shim", func(t *testing.T) { test(newRig(t, emu.Options{})) })
	t.Run("shim backward", func(t *testing.T) { test(newRig(t, emu.Options{Order: 1, Schedule: emu.Eager})) })
	t.Run("ptx", func(t *testing.T) { test(newRig(t, emu.Options{PTX: ptxFile(t)})) })
}

// ptxFile unpacks the PTX that the module has.
func ptxFile(t *testing.T) string {
	t.Helper()
	image, err := cubin.PTX()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "all.ptx")
	if err := os.WriteFile(name, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// room is memory on the device, whose content is not known.
func (r *rig) room(bytes int) cuda.Pointer {
	r.Helper()
	p, err := r.ctx.Alloc(max(bytes, 1))
	r.ok(err)
	r.taken = append(r.taken, p)
	return p
}

func (r *rig) put(bytes []byte) cuda.Pointer {
	r.Helper()
	p := r.room(len(bytes))
	r.ok(r.stream.CopyIn(p, bytes))
	r.ok(r.stream.Synchronize())
	return p
}

func (r *rig) floats(v []float32) cuda.Pointer {
	r.Helper()
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return r.put(b)
}

func (r *rig) ints(v ...int32) cuda.Pointer {
	r.Helper()
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return r.put(b)
}

// halves puts numbers as bf16, which they must be already.
func (r *rig) halves(v []float32) cuda.Pointer {
	r.Helper()
	b := make([]byte, 0, 2*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, model.ToBF16(x))
	}
	return r.put(b)
}

func (r *rig) get(p cuda.Pointer, bytes int) []byte {
	r.Helper()
	b := make([]byte, bytes)
	r.ok(r.stream.CopyOut(b, p))
	r.ok(r.stream.Synchronize())
	return b
}

func (r *rig) getFloats(p cuda.Pointer, n int) []float32 {
	r.Helper()
	b, v := r.get(p, 4*n), make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func (r *rig) getHalves(p cuda.Pointer, n int) []float32 {
	r.Helper()
	b, v := r.get(p, 2*n), make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16)
	}
	return v
}

func (r *rig) getInts(p cuda.Pointer, n int) []int32 {
	r.Helper()
	b, v := r.get(p, 4*n), make([]int32, n)
	for i := range v {
		v[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// numbers are n random ones of a size, exact in bf16.
func (r *rig) numbers(n int, size float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = half(size * (2*r.random.Float64() - 1))
	}
	return v
}

// half is a number rounded to bf16.
func half(x float64) float32 {
	return math.Float32frombits(uint32(model.ToBF16(float32(x))) << 16)
}

// near compares with what is right, to within part of the largest number.
func (r *rig) near(what string, got []float32, want []float64, part float64) {
	r.Helper()
	most := 1e-30
	for _, x := range want {
		most = max(most, math.Abs(x))
	}
	for i, x := range want {
		if d := math.Abs(float64(got[i]) - x); !(d <= part*most) {
			r.Fatalf("%s: number %d is %g, want %g within %g", what, i, got[i], x, part*most)
		}
	}
}

// same compares to the bit.
func (r *rig) same(what string, got, want []float32) {
	r.Helper()
	for i, x := range want {
		if math.Float32bits(got[i]) != math.Float32bits(x) {
			r.Fatalf("%s: number %d is %g, want %g to the bit", what, i, got[i], x)
		}
	}
}

// Bounds of near: what rounding to bf16 takes from a number, and what sums of float32 do.
const ofHalf = 1.0 / 256

var ofFloat = sumsBound()

// sumsBound is larger for a GPU, whose tensor cores cut off what float32 would round.
func sumsBound() float64 {
	if emu.Hardware() {
		return 1e-4
	}
	return 1e-5
}

// normed is a row normalised by the definition, times w.
func normed(row []float64, w []float32, eps float64) []float64 {
	squares := 0.0
	for _, x := range row {
		squares += x * x
	}
	f := 1 / math.Sqrt(squares/float64(len(row))+eps)
	out := make([]float64, len(row))
	for i, x := range row {
		out[i] = x * f * float64(w[i])
	}
	return out
}

// wide is a row in float64.
func wide(row []float32) []float64 {
	out := make([]float64, len(row))
	for i, x := range row {
		out[i] = float64(x)
	}
	return out
}
