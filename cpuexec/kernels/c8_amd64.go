//go:build !noasm

package kernels

// c8Ahead is how far ahead of 8 rows alone the panel is fetched.
const c8Ahead = 4096

// c8AVX512 is GemmC8. While rows pass a panel, the first 16 of them, the next one
// is fetched.
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
	for r := 0; r < rows; r += C8Rows {
		ahead, step := c8Ahead, 128
		if rows > C8Rows {
			ahead, step = size/2*(2+r/C8Rows), 64
		}
		if r >= 2*C8Rows {
			ahead, step = 0, 0
		}
		gemmC8AVX512(&w[0], &x[C8Bytes(r, blocks)], &out[r*outStride], int64(blocks), int64(min(C8Rows, rows-r)),
			int64(4*outStride), int64(ahead), int64(step))
	}
}

// c8AVX2 is GemmC8.
func c8AVX2(w, x []byte, out []float32, blocks, rows, outStride int) {
	checkC8(w, x, out, blocks, rows, outStride)
	if rows == 1 {
		size := C8.PanelBytes(blocks * Block)
		for at := range len(out) / Panel {
			gemmC8AVX2(&w[at*size], &x[0], &out[at*Panel], int64(blocks), 1, 4*Panel, 0)
		}
		return
	}
	for r := 0; r < rows; r += C8Rows {
		gemmC8AVX2(&w[0], &x[C8Bytes(r, blocks)], &out[r*outStride], int64(blocks), int64(min(C8Rows, rows-r)), int64(4*outStride), 0)
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
