//go:build !arm64

package kernels

import "math"

// fma is a*b+c rounded once. The product of two float32 is exact in float64; the
// sum is rounded to odd there, so that rounding it to float32 is the only rounding
// that counts (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// IEEE Transactions on Computers 57, 2008).
func fma(a, b, c float32) float32 {
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
