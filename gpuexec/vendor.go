package gpuexec

import (
	"errors"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/kernels"
)

// vendor computes products of many rows by NVIDIA's cublasLt: those of layers' own matrices and of the
// head that are in bf16. All algorithms are chosen, and have run once, before the first step, since neither may be in a
// capture.
type vendor struct {
	handle   *cublaslt.Handle // nil: own kernels compute all
	products map[productSize]*cublaslt.Product
}

type productSize struct{ rows, n, k int }

// vendorLeast is from how many rows on the vendor computes, of which own kernels would make one part.
// Fewer take as long as reading the matrix does, by any kernel.
const vendorLeast = 65

// vendorRows is how many rows products of so many are computed with: a multiple of 64, and of a 32nd of
// the power of two that is not below, so that there are few sizes. Buffers hold most; what is computed of
// rows behind the last one is not used.
func vendorRows(rows, most int) int {
	step := max(64, powerAbove(rows)/32)
	return min(above(rows, step), most)
}

// open chooses the algorithms of all products with a model's matrices.
func (v *vendor) open(e *Executor, p *parameters) (err error) {
	if e.config.CublasLt == nil {
		return nil
	}
	if v.handle, err = e.config.CublasLt.NewHandle(); err != nil {
		return err
	}
	v.products = map[productSize]*cublaslt.Product{}
	w, tokens := &e.work, e.config.MaxTokens
	for n := range p.layers {
		l := &p.layers[n]
		own := []struct {
			m    *matrix
			rows cuda.Pointer
		}{{&l.qkv, w.y}, {&l.out, w.attn}, {&l.gateUp, w.y}, {&l.down, w.act}}
		if e.dims.HasExperts(n) {
			own = own[:2]
		}
		for _, one := range own {
			if err := v.prepare(e, one.m, w.parts, one.rows, tokens); err != nil {
				return err
			}
		}
	}
	if err := v.prepare(e, &p.head, w.logits, w.headIn, e.dims.headRows); err != nil {
		return err
	}
	return e.compute.Synchronize()
}

// prepare makes the products of up to most rows with a matrix, and runs them once. Those that the library
// has no algorithm for are left to own kernels.
func (v *vendor) prepare(e *Executor, m *matrix, out, rows cuda.Pointer, most int) error {
	if m.Format != kernels.BF16 {
		return nil
	}
	for n := vendorRows(vendorLeast, most); n >= vendorLeast; n = vendorRows(n+1, most) {
		size := productSize{n, m.n, m.k}
		if v.products[size] == nil {
			p, err := v.handle.Product(n, m.n, m.k)
			switch {
			case errors.Is(err, cublaslt.ErrNoAlgorithm):
			case err != nil:
				return err
			default:
				v.products[size] = p
				if err := p.Run(e.compute, out, rows, m.At, e.work.vendor); err != nil {
					return err
				}
			}
		}
		if n == most {
			break
		}
	}
	return nil
}

// product is what computes so many rows, of a buffer of most, with a matrix [n][k]; nil: own kernels do.
func (v *vendor) product(f kernels.Format, n, k, rows, most int) *cublaslt.Product {
	if rows < vendorLeast || f != kernels.BF16 {
		return nil
	}
	return v.products[productSize{vendorRows(rows, most), n, k}]
}

// byVendor multiplies rows, of a buffer of most, with a matrix, unless own kernels are to.
func (l *launching) byVendor(out, rows cuda.Pointer, m *matrix, count, most int) bool {
	p := l.vendor.product(m.Format, m.n, m.k, count, most)
	if p == nil {
		return false
	}
	l.do(p.Run(l.compute, out, rows, m.At, l.work.vendor))
	return true
}

// close gives back what open made, as far as it came.
func (v *vendor) close() (errs []error) {
	for _, p := range v.products {
		errs = append(errs, p.Close())
	}
	if v.handle != nil {
		errs = append(errs, v.handle.Close())
	}
	return errs
}
