package cuda_test

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

// Each bug of wrong.cu is told: as an error, or by a result that is wrong in some order of
// threads. The interpreter tells all of them, and races in every order.
func TestBugsAreTold(t *testing.T) {
	emu.Only(t, "a GPU may do anything, or hang")
	for kernel, want := range map[string]struct {
		shim, ptx string // error; empty: the results are not what the sound kernel would write
		right     func(i int) float32
	}{
		"race_write":        {"", "CUDA_ERROR_LAUNCH_FAILED", backwards},
		"race_overwrite":    {"", "CUDA_ERROR_LAUNCH_FAILED", func(i int) float32 { return 2*backwards(i) + 1 }},
		"race_lanes":        {"", "CUDA_ERROR_LAUNCH_FAILED", func(i int) float32 { return float32(i/32*32+31-i%32) + 256 }},
		"divergent_barrier": {"CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_FAILED", nil},
		"early_return":      {"CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_FAILED", nil},
		"half_shuffle":      {"CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_FAILED", nil},
		"outside_mask":      {"CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_FAILED", nil},
		"beyond":            {"CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_ILLEGAL_ADDRESS", nil},
		"one_beyond":        {"CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_ILLEGAL_ADDRESS", nil},
		"misaligned":        {"-", "CUDA_ERROR_MISALIGNED_ADDRESS", nil},
		"unwritten":         {"", "", func(int) float32 { return 1 }},
		"unwaited":          {"", "CUDA_ERROR_LAUNCH_FAILED", func(int) float32 { return 256 }},
	} {
		t.Run(kernel, func(t *testing.T) {
			told := want.shim == "-" // this processor reads at any address
			for _, order := range []int{0, 1, 7} {
				told = isTold(t, kernel, emu.Options{Order: order}, want.shim, want.right) || told
				if !isTold(t, kernel, emu.Options{Order: order, PTX: kernels + "/all.ptx"}, want.ptx, want.right) {
					t.Errorf("the interpreter has not told it, in order %d", order)
				}
			}
			if !told {
				t.Error("the shim has not told it in any order")
			}
		})
	}
}

func backwards(i int) float32 { return float32(255 - i) }

// isTold runs a kernel of 256 threads and tells whether its error, or its results, show the bug.
func isTold(t *testing.T, kernel string, o emu.Options, code string, right func(int) float32) bool {
	t.Helper()
	o.Kernels = kernels
	r := &lostRig{T: t}
	r.open(o)
	const n = 256
	out, err := r.ctx.Alloc(4 * n)
	r.ok(err)
	f, err := r.module.Function(kernel)
	r.ok(err)
	r.ok(f.Launch(r.stream, cuda.Grid{X: 1, Y: 1, Z: 1}, cuda.Grid{X: n, Y: 1, Z: 1}, 0, cuda.Address(out), cuda.Int(n)))
	result := vector{device: out, host: make([]byte, 4*n)}
	err = r.stream.Synchronize()
	if code != "" && code != "-" {
		e := (*cuda.Error)(nil)
		return errors.As(err, &e) && e.Name == code
	}
	if code == "-" {
		return false
	}
	r.ok(err)
	r.ok(r.stream.CopyOut(result.host, result.device))
	r.ok(r.stream.Synchronize())
	for i := range n {
		if result.at(i) != right(i) {
			return true
		}
	}
	return false
}
