package kernels

import "math"

// capBound is beyond where tanh is 1 in float32, in powers of two of e^2x.
const capBound = 30

// capScale is what a number that is capped is multiplied with, before 2^ is taken of it:
// e^2x is 2^(capScale*x).
const capScale = 2 * math.Log2E

// capTileGo is CapTile.
func capTileGo(x []float32, rows, stride int, top float32) {
	for r := range rows {
		capRow(x[r*stride:][:Panel], logitFactor(top), top)
	}
}

// logitFactor is capScale for numbers that are divided by top.
func logitFactor(top float32) float32 { return capScale / top }

// capRow makes top*tanh(x) of numbers that factor, instead of capScale, is multiplied with:
// tanh(x) = (e^2x-1)/(e^2x-1+2), which is as exact for small x as for large, within 3e-7
// of itself.
func capRow(xs []float32, factor, top float32) {
	for j, x := range xs {
		m := expm2(float32(x * factor))
		xs[j] = m / (m + 2) * top
	}
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
