//go:build !noasm

package kernels

// bestBy is Best by a kernel that finds the rows in which something changes.
func bestBy(above func(x, most *float32, rows, xStride int64) int64) func(x []float32, most []float32, which []int32, first, rows, xStride int) {
	return func(x []float32, most []float32, which []int32, first, rows, xStride int) {
		_ = x[(rows-1)*xStride+Panel-1] // the assembly trusts these
		_ = most[rows-1]
		for r := 0; r < rows; r++ {
			r += int(above(&x[r*xStride], &most[r], int64(rows-r), int64(4*xStride)))
			if r < rows {
				bestGo(x[r*xStride:], most[r:], which[r:], first, 1, xStride)
			}
		}
	}
}
