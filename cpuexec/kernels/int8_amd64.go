//go:build !noasm

package kernels

// packed is the assembly of a product with packed rows.
type packed struct {
	gemm   func(w, x *byte, out *float32, blocks, rows, xStride, outStride, from int64)
	row    func(w, x *byte, out *float32, blocks, panels int64) // nil where gemm serves one row as well
	format Format
	blocks int // that a call of gemm takes, so that they stay in the first level cache; 8 where scales have one beside 8
	rows   int // that it multiplies in 40 microseconds
}

// unpackedBlocks is how many blocks gemmQ4AVX512 has room for in its frame.
const unpackedBlocks = 12

// rowPace is how many blocks a call of row multiplies in 40 microseconds, where they come
// from memory as slowly as 10 GB/s.
const rowPace = 400

var integersAVX512 = [formats]func(w, x []byte, out []float32, blocks, rows, outStride int){
	Q8:  packed{gemmQ8AVX512, rowQ8AVX512, Q8, 24, 256}.product,
	Q4:  packed{gemmQ4AVX512, rowQ4AVX512, Q4, unpackedBlocks, 512}.product,
	Q40: packed{gemmQ40AVX512, rowQ40AVX512, Q40, unpackedBlocks, 512}.product,
	Q4K: packed{gemmQ4KAVX512, rowQ4KAVX512, Q4K, 8, 512}.product,
	Q5K: packed{gemmQ5KAVX512, rowQ5KAVX512, Q5K, 8, 512}.product,
	Q6K: packed{gemmQ6KAVX512, rowQ6KAVX512, Q6K, 8, 512}.product,
	C8:  c8AVX512,
}

var integersAVX2 = [formats]func(w, x []byte, out []float32, blocks, rows, outStride int){
	Q8:  packed{gemmQ8AVX2, nil, Q8, 12, 128}.product,
	Q4:  packed{gemmQ4AVX2, nil, Q4, 12, 128}.product,
	Q40: packed{gemmQ40AVX2, nil, Q40, 12, 128}.product,
	Q4K: packed{gemmQ4KAVX2, nil, Q4K, 8, 128}.product,
	Q5K: packed{gemmQ5KAVX2, nil, Q5K, 8, 128}.product,
	Q6K: packed{gemmQ6KAVX2, nil, Q6K, 8, 128}.product,
	C8:  c8AVX2,
}

// product is that of Set.Integers.
func (p packed) product(w, x []byte, out []float32, blocks, rows, outStride int) {
	if rows == 1 {
		p.panels(w, x, out, blocks)
		return
	}
	p.panel(w, x, out, blocks, rows, outStride)
}

// panel multiplies rows with a panel.
func (p packed) panel(w, x []byte, out []float32, blocks, rows, outStride int) {
	size := p.format.blockBytes()
	_ = w[blocks*size-1] // the assembly trusts these
	_ = x[PackedBytes(rows, blocks)-1]
	_ = out[(rows-1)*outStride+Panel-1]
	calls := (blocks + p.blocks - 1) / p.blocks
	some := (blocks + calls - 1) / calls
	for r := 0; r < rows; r += p.rows {
		for b := 0; b < blocks; b += some {
			p.gemm(&w[b*size], &x[PackedBytes(r, blocks)+b*xBlock], &out[r*outStride],
				int64(min(some, blocks-b)), int64(min(p.rows, rows-r)), int64(blocks*xBlock), int64(4*outStride), int64(b))
		}
	}
}

// panels multiplies one row with as many panels as out has room for.
func (p packed) panels(w, x []byte, out []float32, blocks int) {
	n, size := len(out)/Panel, blocks*p.format.blockBytes()
	if p.row == nil {
		for at := range n {
			p.panel(w[at*size:], x, out[at*Panel:], blocks, 1, Panel)
		}
		return
	}
	_ = w[n*size-1] // the assembly trusts these
	_ = x[blocks*xBlock-1]
	step := max(rowPace/blocks, 1)
	for at := 0; at < n; at += step {
		p.row(&w[at*size], &x[0], &out[at*Panel], int64(blocks), int64(min(step, n-at)))
	}
}

func quantiseAsm(x []float32, dst []byte, row, rows, first, n, blocks, xStride int) {
	_ = x[(rows-1)*xStride+n*Block-1] // the assembly trusts these
	_ = dst[PackedBytes(row+rows-1, blocks)+(first+n)*xBlock-1]
	for r := range rows {
		quantise(&x[r*xStride], &dst[PackedBytes(row+r, blocks)+first*xBlock], int64(n))
	}
}
