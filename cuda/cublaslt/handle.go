package cublaslt

import (
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/cuda"
)

// Workspace is how many bytes of the device a stream's products share: what NVIDIA recommends for
// Hopper. Its alignment is what cuda.Context.Alloc gives.
const Workspace = 32 << 20

// Handle is the library on a device.
type Handle struct {
	functions *functions
	native    native
}

// NewHandle makes a handle for the context that the thread is bound to. The library takes memory of
// the device by itself, now and when a product is first run.
func (l *Library) NewHandle() (*Handle, error) {
	n, err := l.functions.open()
	if err != nil {
		return nil, errors.Join(err, l.functions.close(n))
	}
	return &Handle{functions: l.functions, native: n}, nil
}

// Close gives the handle back. It waits for the device.
func (h *Handle) Close() error { return h.functions.close(h.native) }

// Product is products of certain sizes, by an algorithm that was chosen once.
type Product struct {
	handle *Handle
	plan   plan
}

// Product asks for the algorithm of a product of m rows of k numbers and a matrix of n rows of k
// numbers. No stream may be captured by this thread. ErrNoAlgorithm: there is none.
func (h *Handle) Product(m, n, k int) (*Product, error) {
	p := &Product{handle: h}
	err := h.functions.plan(h.native, m, n, k, &p.plan)
	if err == nil {
		return p, nil
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Status == notSupported {
		err = fmt.Errorf("%w for %d rows, %d columns, %d inner numbers: %w", ErrNoAlgorithm, m, n, k, err)
	}
	return nil, errors.Join(err, p.Close())
}

// Run enqueues the product of a, bf16 [m][k], and w, bf16 [n][k]: out, float32 [m][n]. All are
// aligned to 256 bytes. The workspace is that of the stream. The first run of a product takes
// memory, and so must not be captured.
func (p *Product) Run(s *cuda.Stream, out, a, w, workspace cuda.Pointer) error {
	return p.handle.functions.run(p.handle.native, &p.plan, out, a, w, workspace, s.Handle())
}

// Close gives the product back. It may still be running.
func (p *Product) Close() error { return p.handle.functions.forget(&p.plan) }
