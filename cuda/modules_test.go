package cuda_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

func TestModules(t *testing.T) {
	r := newRig(t, emu.Options{})
	if _, err := r.ctx.Load(nil); !errors.Is(err, cuda.ErrCall) {
		t.Errorf("nothing: %v", err)
	}
	_, err := r.ctx.Load([]byte("neither a cubin nor PTX"))
	code(t, "a text", err, "CUDA_ERROR_INVALID_PTX")
	_, err = r.module.Function("nobody")
	code(t, "a kernel that is not there", err, "CUDA_ERROR_NOT_FOUND")
	if err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("the error does not name the kernel: %v", err)
	}
	m, err := r.ctx.Load(r.image("all.ptx"))
	r.ok(err)
	r.ok(m.Close())
}

// A driver refuses PTX of a compiler that is newer than itself.
func TestNewerPTX(t *testing.T) {
	r := newRig(t, emu.Options{Version: 12080})
	_, err := r.ctx.Load(r.image("all.ptx"))
	code(t, "PTX 9.0 on CUDA 12.8", err, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION")
}

// A device runs code for its own architecture, and for earlier ones of its kind.
func TestArchitecture(t *testing.T) {
	for capability, want := range map[int]string{90: "", 80: "CUDA_ERROR_NO_BINARY_FOR_GPU", 100: "CUDA_ERROR_NO_BINARY_FOR_GPU"} {
		r := &lostRig{T: t}
		r.bind(emu.Options{Kernels: kernels, Capability: capability})
		_, err := r.ctx.Load((&rig{T: t}).image("all.cubin"))
		if want != "" {
			code(t, "code for 9.0 elsewhere", err, want)
		} else if err != nil {
			t.Error(err)
		}
	}
}
