package cuda_test

import (
	"errors"
	"math"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

func TestMemory(t *testing.T) {
	r := newRig(t, emu.Options{Memory: 1 << 20})
	p, err := r.ctx.Alloc(1 << 19)
	r.ok(err)
	if p%256 != 0 {
		t.Errorf("memory at %x is not aligned", p)
	}
	if free, total, err := r.ctx.Memory(); err != nil || free != 1<<19 || total != 1<<20 {
		t.Errorf("%d of %d bytes are free, %v", free, total, err)
	}
	for _, n := range []int{1<<19 + 1, math.MaxInt} {
		if _, err := r.ctx.Alloc(n); !errors.Is(err, cuda.ErrOutOfMemory) || errors.Is(err, cuda.ErrDeviceLost) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for _, n := range []int{0, -1} {
		if _, err := r.ctx.Alloc(n); !errors.Is(err, cuda.ErrCall) {
			t.Errorf("%d bytes of the device: %v", n, err)
		}
		if _, err := r.ctx.AllocHost(n); !errors.Is(err, cuda.ErrCall) {
			t.Errorf("%d pinned bytes: %v", n, err)
		}
	}
	r.ok(r.ctx.Free(p))
	code(t, "memory that was freed already", r.ctx.Free(p), "CUDA_ERROR_INVALID_VALUE")
}

// Memory has no content until somebody writes to it: it reads as NaN here.
func TestNewMemoryIsNoNumber(t *testing.T) {
	emu.Only(t, "other memory has what was there before")
	r := newRig(t, emu.Options{})
	v := r.vector(1, 2, 3)
	r.ok(r.stream.CopyOut(v.host, v.device))
	r.ok(r.stream.Synchronize())
	if v.at(0) == v.at(0) {
		t.Errorf("new memory holds %v", v.at(0))
	}
}

func TestCopies(t *testing.T) {
	r := newRig(t, emu.Options{})
	a, b := r.vector(1, 2, 3, 4), r.vector(0, 0, 0, 0)
	r.ok(r.stream.CopyIn(a.device, a.host))
	r.ok(r.stream.Copy(b.device+4, a.device, 8))
	r.ok(r.stream.Fill(b.device, 0, 4))
	r.ok(r.stream.Fill(b.device+12, 0, 4))
	r.ok(r.stream.CopyOut(b.host, b.device))
	r.ok(r.stream.Synchronize())
	for i, want := range []float32{0, 1, 2, 0} {
		if b.at(i) != want {
			t.Errorf("element %d is %v, not %v", i, b.at(i), want)
		}
	}
	for name, err := range map[string]error{
		"in":     r.stream.CopyIn(a.device+1, a.host),
		"out":    r.stream.CopyOut(a.host, a.device+1),
		"within": r.stream.Copy(a.device, b.device, 17),
		"fill":   r.stream.Fill(a.device, 0, 17),
	} {
		code(t, "past the end: "+name, err, "CUDA_ERROR_INVALID_VALUE")
	}
}

// Of memory of Go's own a copy is taken before the call returns.
func TestPageableMemory(t *testing.T) {
	r := newRig(t, emu.Options{})
	v := r.vector(0)
	from := []byte{0, 0, 0x80, 0x3f} // 1
	r.ok(r.stream.CopyIn(v.device, from))
	clear(from)
	to := make([]byte, 4)
	r.ok(r.stream.CopyOut(to, v.device))
	if to[3] != 0x3f {
		t.Errorf("%x came back", to)
	}
}
