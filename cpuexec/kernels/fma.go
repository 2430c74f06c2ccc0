//go:build !arm64

package kernels

import "math"

// Of float64: what ends half way between two float32, and the exponent of the smallest
// float32 that is not denormal.
const (
	half   = 1 << 28
	lowest = 897 << 52
)

// fma is a*b+c rounded once. The product of two float32 is exact in float64, and rounding
// the sum there first changes nothing, unless it ends half way between two float32, which
// it may have been moved to. Halves of denormal results lie elsewhere.
func fma(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	if u := math.Float64bits(s); u&(1<<29-1) != half && u<<1 >= lowest<<1 {
		return float32(s)
	}
	return fmaExact(a, b, c)
}

// addProducts adds x[i]*f to sums[i], each rounded once as fma does.
func addProducts(sums, x []float32, f float32) {
	for i, v := range x {
		s := float64(v)*float64(f) + float64(sums[i])
		if u := math.Float64bits(s); u&(1<<29-1) != half && u<<1 >= lowest<<1 {
			sums[i] = float32(s)
		} else {
			sums[i] = fmaExact(v, f, sums[i])
		}
	}
}

// fmaExact has the sum rounded to odd in float64, so that rounding it to float32 is the
// only rounding that counts (Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums", IEEE Transactions on Computers 57, 2008).
func fmaExact(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c)
	s := p + d
	t := s - p
	e := (p - (s - t)) + (d - t) // what the sum lost, exactly
	if e == 0 || e != e || math.IsInf(s, 0) {
		return float32(s)
	}
	u := math.Float64bits(s)
	if u&1 == 0 {
		if (e > 0) == (s > 0) {
			u++
		} else {
			u--
		}
	}
	return float32(math.Float64frombits(u))
}
