//go:build !noasm

package kernels

// c8PerCall is how many blocks of 8 rows a call of the product multiplies, at least: in
// 10 microseconds.
const c8PerCall = 400

// c8AVX512 is the product of C8. While the rows of a first call pass a panel, all of them, the next
// one is fetched: slowly, as the third level cache gives it.
func c8AVX512(w, x []byte, out []float32, blocks, rows, outStride int) {
	checkC8(w, x, out, blocks, rows, outStride)
	size := C8.PanelBytes(blocks * Block)
	if rows == 1 {
		step := max(rowPace/blocks, 1)
		for at, n := 0, len(out)/Panel; at < n; at += step {
			rowC8AVX512(&w[at*size], &x[0], &out[at*Panel], int64(blocks), int64(min(step, n-at)))
		}
		return
	}
	some := (c8PerCall/blocks + 1) * C8Rows
	step := (4*Panel*C8Rows + min(rows, some) - 1) / min(rows, some)
	for r := 0; r < rows; r += some {
		gemmC8AVX512(&w[0], &x[C8Bytes(r, blocks)], &out[r*outStride], int64(blocks), int64(min(some, rows-r)),
			int64(4*outStride), int64(size), int64(step))
		step = 0
	}
}

// c8AVX2 is the product of C8.
func c8AVX2(w, x []byte, out []float32, blocks, rows, outStride int) {
	checkC8(w, x, out, blocks, rows, outStride)
	if rows == 1 {
		size := C8.PanelBytes(blocks * Block)
		for at := range len(out) / Panel {
			gemmC8AVX2(&w[at*size], &x[0], &out[at*Panel], int64(blocks), 1, 4*Panel)
		}
		return
	}
	for r := 0; r < rows; r += C8Rows {
		gemmC8AVX2(&w[0], &x[C8Bytes(r, blocks)], &out[r*outStride], int64(blocks), int64(min(C8Rows, rows-r)), int64(4*outStride))
	}
}

// checkC8 looks at what the assembly trusts.
func checkC8(w, x []byte, out []float32, blocks, rows, outStride int) {
	panels := 1
	if rows == 1 {
		panels = len(out) / Panel
	}
	_ = w[panels*C8.PanelBytes(blocks*Block)-1]
	_ = x[C8Bytes(rows, blocks)-1]
	_ = out[(rows-1)*outStride+Panel-1]
}

func quantiseC8Asm(x []float32, dst []byte, row, rows, blocks, xStride int) {
	_ = x[(rows-1)*xStride+blocks*Block-1] // the assembly trusts these
	_ = dst[C8Bytes(row+rows, blocks)-1]
	for r := range rows {
		at := (row+r)/C8Rows*c8Bytes(blocks) + 4*((row+r)%C8Rows)
		for b := 0; b < blocks; b += C8Group / Block {
			n := min(C8Group/Block, blocks-b)
			quantiseGroup(&x[r*xStride+b*Block], &dst[at], int64(n))
			at += C8Rows*Block*n + 2*4*C8Rows
		}
	}
}
