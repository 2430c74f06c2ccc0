package kernels

import "math"

// bestGo is Best.
func bestGo(x []float32, most []float32, which []int32, first, rows, xStride int) {
	for r := range rows {
		for c, v := range x[r*xStride:][:Panel] {
			switch {
			case v <= most[r]:
			case !(v <= math.MaxFloat32): // a NaN or +Inf
				most[r] = float32(math.NaN())
			case most[r] == most[r]:
				most[r], which[r] = v, int32(first+c)
			}
		}
	}
}
