package kernels

import "math"

// gemmBF16Go is GemmBF16: the same chain of fused operations as Gemm, over weights that
// are widened.
func gemmBF16Go(w []uint16, x, out []float32, k, rows, xStride, outStride int) {
	for r := range rows {
		var sums [Panel]float32
		for i, v := range x[r*xStride:][:k] {
			for c := range sums {
				sums[c] = fma(widen(w[bf16At(c, i)]), v, sums[c])
			}
		}
		copy(out[r*outStride:], sums[:])
	}
}

// bf16At is where in a panel k number i of column c lies.
func bf16At(c, i int) int { return i/2*2*Panel + c/16*32 + c%16*2 + i%2 }

// widen is a bf16 as a float32.
func widen(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
