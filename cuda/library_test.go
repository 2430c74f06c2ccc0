package cuda_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

// Without a driver, or in a build without cgo, the error says what to do.
func TestNoDriver(t *testing.T) {
	_, err := cuda.Open("libnothing.so.1")
	if !errors.Is(err, cuda.ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	if s := err.Error(); !strings.Contains(s, "install NVIDIA's driver") && !strings.Contains(s, "CGO_ENABLED=1") {
		t.Errorf("it does not say what to do: %s", s)
	}
}

// Many who look for a driver at once are all told which one is not there: what the linker says of an error,
// it says to the thread that it happened on.
func TestNoDriverForMany(t *testing.T) {
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 20 {
				if _, err := cuda.Open("libnothing.so.1"); !strings.Contains(err.Error(), "libnothing.so.1") && !strings.Contains(err.Error(), "CGO_ENABLED=1") {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestNotADriver(t *testing.T) {
	_, err := cuda.Open("libm.so.6")
	if !errors.Is(err, cuda.ErrUnavailable) {
		t.Errorf("the library of mathematics: %v", err)
	}
}

func TestNoDevice(t *testing.T) {
	_, err := cuda.Open(emu.New(t, emu.Options{Kernels: kernels, Devices: -1}).Path)
	if !errors.Is(err, cuda.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	code(t, "a driver without a device", err, "CUDA_ERROR_NO_DEVICE")
}

func TestDevice(t *testing.T) {
	d := emu.Open(t, emu.Options{Kernels: kernels, Devices: 2, Memory: 1 << 30})
	if v, err := d.Version(); err != nil || v != 13000 {
		t.Errorf("version %d, %v", v, err)
	}
	if n, err := d.Devices(); err != nil || n != 2 {
		t.Errorf("%d devices, %v", n, err)
	}
	got, err := d.Device(1)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ordinal != 1 || got.Name != "CPU as a GPU" || got.Memory != 1<<30 || got.Major != 9 || got.Minor != 0 ||
		got.UUID != "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f" {
		t.Errorf("%+v", got)
	}
	for _, n := range []int{2, -1} {
		_, err := d.Device(n)
		code(t, "a device that is not there", err, "CUDA_ERROR_INVALID_DEVICE")
	}
}
