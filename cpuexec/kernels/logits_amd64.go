//go:build !noasm

package kernels

// aboveBy is Above by a kernel for whole panels.
func aboveBy(first func(x *float32, n32 int64, bound float32) int64) func(x []float32, bound float32) int {
	return func(x []float32, bound float32) int {
		at, whole := 0, len(x)&^(Panel-1)
		if whole > 0 {
			if at = int(first(&x[0], int64(whole/Panel), bound)); at < whole {
				return at
			}
		}
		for at < len(x) && x[at] <= bound {
			at++
		}
		return at
	}
}

func weighAsm(logits *[64]float32, best, factor float64, out *[64]float64) float64 {
	return weighLogits(&logits[0], &out[0], int64(len(out)/8), best, factor)
}
