package kernels

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cubin"
	"github.com/cbactor/cbactor/cuda/emu"
)

// TestImages loads each cubin that the device can run with all of its kernels, and the PTX; the others
// are refused.
func TestImages(t *testing.T) {
	r := newRig(t, emu.Options{})
	for _, of := range []struct{ major, minor int }{{8, 0}, {8, 9}, {9, 0}, {10, 0}, {12, 0}} {
		image, err := cubin.For(of.major, of.minor)
		r.ok(err)
		s, err := load(r.ctx, image)
		if of.major == r.device.Major && of.minor <= r.device.Minor {
			r.ok(err)
			r.ok(s.Close())
		} else if e := (*cuda.Error)(nil); !errors.As(err, &e) || e.Name != "CUDA_ERROR_NO_BINARY_FOR_GPU" {
			t.Errorf("the cubin for %d.%d on a device of %d.%d: %v", of.major, of.minor, r.device.Major, r.device.Minor, err)
		}
	}
	image, err := cubin.PTX()
	r.ok(err)
	s, err := load(r.ctx, image)
	r.ok(err)
	r.ok(s.Close())
}
