//go:build !noasm

package kernels

// packed is the assembly of a product with packed rows.
type packed struct {
	gemm  func(w, x *byte, out *float32, blocks, rows, xStride, outStride, from int64)
	row   func(w, x *byte, out *float32, blocks, panels int64) // nil where gemm serves one row as well
	block int                                                  // bytes of a panel for 32 k
	rows  int                                                  // that a call of gemm multiplies in 40 microseconds
}

var (
	q8AVX512 = packed{gemmQ8AVX512, rowQ8AVX512, q8Block, 512}
	q4AVX512 = packed{gemmQ4AVX512, rowQ4AVX512, q4Block, 512}
	q8AVX2   = packed{gemmQ8AVX2, nil, q8Block, 128}
	q4AVX2   = packed{gemmQ4AVX2, nil, q4Block, 128}
)

// blocksPerCall is how many blocks a call of gemm takes.
const blocksPerCall = 12

// rowPace is how many blocks a call of row multiplies in 40 microseconds, where they come
// from memory as slowly as 10 GB/s.
const rowPace = 400

// product is GemmQ8 or GemmQ4.
func (p packed) product(w, x []byte, out []float32, blocks, rows, outStride int) {
	if rows == 1 {
		p.panels(w, x, out, blocks)
		return
	}
	_ = w[blocks*p.block-1] // the assembly trusts these
	_ = x[PackedBytes(rows, blocks)-1]
	_ = out[(rows-1)*outStride+Panel-1]
	calls := (blocks + blocksPerCall - 1) / blocksPerCall
	some := (blocks + calls - 1) / calls
	for r := 0; r < rows; r += p.rows {
		for b := 0; b < blocks; b += some {
			p.gemm(&w[b*p.block], &x[PackedBytes(r, blocks)+b*xBlock], &out[r*outStride],
				int64(min(some, blocks-b)), int64(min(p.rows, rows-r)), int64(blocks*xBlock), int64(4*outStride), int64(b))
		}
	}
}

// panels multiplies one row with as many panels as out has room for.
func (p packed) panels(w, x []byte, out []float32, blocks int) {
	n := len(out) / Panel
	_ = w[n*blocks*p.block-1] // the assembly trusts these
	_ = x[blocks*xBlock-1]
	if p.row == nil {
		for at := range n {
			p.gemm(&w[at*blocks*p.block], &x[0], &out[at*Panel], int64(blocks), 1, int64(blocks*xBlock), 4*Panel, 0)
		}
		return
	}
	step := max(rowPace/blocks, 1)
	for at := 0; at < n; at += step {
		p.row(&w[at*blocks*p.block], &x[0], &out[at*Panel], int64(blocks), int64(min(step, n-at)))
	}
}

func quantiseAsm(x []float32, dst []byte, row, rows, first, n, blocks, xStride int) {
	_ = x[(rows-1)*xStride+n*Block-1] // the assembly trusts these
	_ = dst[PackedBytes(row+rows-1, blocks)+(first+n)*xBlock-1]
	for r := range rows {
		quantise(&x[r*xStride], &dst[PackedBytes(row+r, blocks)+first*xBlock], int64(n))
	}
}
