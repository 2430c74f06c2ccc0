package kernels

import "math"

// gemmBF16Go is GemmBF16: the same chain of fused operations as Gemm, over weights that
// are widened.
func gemmBF16Go(w []uint16, x, out []float32, k, rows, xStride, outStride int) {
	for r := range rows {
		var sums [Panel]float32
		for i, v := range x[r*xStride:][:k] {
			pair := (*[2 * Panel]uint16)(w[i/2*2*Panel:])
			var line [Panel]float32
			for c := range line {
				line[c] = widen(pair[2*c+i%2])
			}
			addProducts(sums[:], line[:], v)
		}
		copy(out[r*outStride:], sums[:])
	}
}

// widen is a bf16 as a float32.
func widen(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// addWidened is addProducts over numbers that are widened.
func addWidened(sums []float32, x []uint16, f float32) {
	var wide [Tile]float32
	for len(x) > 0 {
		n := min(len(x), Tile)
		for i, h := range x[:n] {
			wide[i] = widen(h)
		}
		addProducts(sums, wide[:n], f)
		sums, x = sums[n:], x[n:]
	}
}
