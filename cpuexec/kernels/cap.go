package kernels

import "math"

// capBound is beyond where tanh is 1 in float32, in powers of two of e^2x.
const capBound = 30

// capScores makes top*tanh(x) of scores, with the assembly's operations:
// tanh(x) = (e^2x-1)/(e^2x-1+2), which is as exact for small x as for large, within 3e-7
// of itself.
func capScores(scores []float32, top float32) {
	for j, x := range scores {
		m := expm2(float32(x * (2 * math.Log2E)))
		scores[j] = m / (m + 2) * top
	}
}

// Cap makes top*tanh(x/top) of each x, alike on every Set.
func Cap(x []float32, top float32) {
	for i := range x {
		x[i] /= top
	}
	capScores(x, top)
}

// expm2 is 2^x-1 within capBound, where it stops. A NaN stays one.
func expm2(x float32) float32 {
	if x != x {
		return x
	}
	x = min(max(x, -capBound), capBound)
	n := math.RoundToEven(float64(x))
	f := x - float32(n)
	t := expm2Poly[5]
	for i := 4; i >= 0; i-- {
		t = fma(t, f, expm2Poly[i])
	}
	power := math.Float32frombits(uint32(int32(n)+127) << 23)
	return fma(float32(t*f), power, power-1)
}
