package kernels

import "math"

// gemmBF16Go is GemmBF16: the same chain of fused operations as Gemm, over weights that
// are widened.
func gemmBF16Go(w []uint16, x, out []float32, k, rows, xStride, outStride int) {
	for r := range rows {
		var sums [Panel]float32
		for i, v := range x[r*xStride:][:k] {
			pair := (*[2 * Panel]uint16)(w[i/2*2*Panel:])
			for c := range sums {
				sums[c] = fma(widen(pair[2*c+i%2]), v, sums[c])
			}
		}
		copy(out[r*outStride:], sums[:])
	}
}

// widen is a bf16 as a float32.
func widen(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
