package cuda_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

// A kernel that touches memory that is not there loses the device, for good.
func TestLostDevice(t *testing.T) {
	emu.Loses(t)
	backs := []string{"", kernels + "/all.ptx"}
	if emu.Hardware() {
		backs = backs[:1] // a process loses it once
	}
	for _, ptx := range backs {
		r := &lostRig{T: t}
		r.open(emu.Options{Kernels: kernels, PTX: ptx})
		p, err := r.ctx.Alloc(4)
		r.ok(err)
		const far = 1 << 20
		r.ok(r.f.Launch(r.stream, cuda.Grid{X: far / 64, Y: 1, Z: 1}, cuda.Grid{X: 64, Y: 1, Z: 1}, 0,
			cuda.Address(p), cuda.Address(p), cuda.Float(1), cuda.Int(far)))
		for range 2 {
			err := r.stream.Synchronize()
			if !errors.Is(err, cuda.ErrDeviceLost) || errors.Is(err, cuda.ErrOutOfMemory) {
				t.Errorf("%v", err)
			}
			code(t, "an address that is not there", err, "CUDA_ERROR_ILLEGAL_ADDRESS")
		}
		_, err = r.ctx.Alloc(4)
		if !errors.Is(err, cuda.ErrDeviceLost) {
			t.Errorf("memory of a device that is lost: %v", err)
		}
	}
}

// Another test's device knows nothing of it, and one may be lost as a test wants it.
func TestFail(t *testing.T) {
	emu.Only(t, "it is told to fail")
	r := &lostRig{T: t}
	r.open(emu.Options{Kernels: kernels})
	r.ok(r.stream.Synchronize())
	r.driver.Fail(214)
	if err := r.stream.Synchronize(); !errors.Is(err, cuda.ErrDeviceLost) {
		t.Errorf("an error of memory that cannot be corrected: %v", err)
	}
}

// The context of a device that is lost is given back once, though unbinding it fails.
func TestCloseOfALostDevice(t *testing.T) {
	emu.Only(t, "it is told to fail")
	r := &lostRig{T: t}
	r.bind(emu.Options{Kernels: kernels})
	r.driver.Fail(700)
	for again := range 2 {
		err := r.ctx.Close()
		if refused := strings.Contains(fmt.Sprint(err), "cuDevicePrimaryCtxRelease"); !errors.Is(err, cuda.ErrDeviceLost) || refused != (again == 1) {
			t.Errorf("closed %d times before: %v", again, err)
		}
	}
}

// A device that somebody else has is not lost: it may be given back.
func TestUnavailableIsNotLost(t *testing.T) {
	if errors.Is(&cuda.Error{Code: 46}, cuda.ErrDeviceLost) || !errors.Is(&cuda.Error{Code: 700}, cuda.ErrDeviceLost) {
		t.Error("DEVICE_UNAVAILABLE is a lost device, or an illegal address is none")
	}
}

// A thread that nobody has bound has no context.
func TestUnboundThread(t *testing.T) {
	r := newRig(t, emu.Options{})
	answer := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_, err := r.ctx.Alloc(16)
		answer <- err
	}()
	code(t, "an unbound thread", <-answer, "CUDA_ERROR_INVALID_CONTEXT")
}

// lostRig has what a test needs whose device is lost at the end: nothing can be closed then.
type lostRig struct {
	*testing.T
	driver *emu.Driver
	device *cuda.Device
	ctx    *cuda.Context
	stream *cuda.Stream
	module *cuda.Module
	f      *cuda.Function // axpy
}

func (r *lostRig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// bind opens a driver and binds its device.
func (r *lostRig) bind(o emu.Options) {
	r.Helper()
	runtime.LockOSThread()
	r.Cleanup(runtime.UnlockOSThread)
	r.driver = emu.Open(r, o)
	var err error
	r.device, err = r.driver.Device(0)
	r.ok(err)
	r.ctx, err = r.device.Retain()
	r.ok(err)
	r.ok(r.ctx.Bind())
}

func (r *lostRig) open(o emu.Options) {
	r.Helper()
	r.bind(o)
	image, err := os.ReadFile(kernels + "/" + imageFor(r.device, o))
	r.ok(err)
	r.module, err = r.ctx.Load(image)
	r.ok(err)
	r.f, err = r.module.Function("axpy")
	r.ok(err)
	r.stream, err = r.ctx.NewStream()
	r.ok(err)
}
