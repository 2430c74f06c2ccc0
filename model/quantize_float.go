package model

import "math"

// QuantizeMXFP4 makes a block of MXFP4 of 32 numbers, as quantize_row_mxfp4_ref of ggml
// (ggml-quants.c) does: the scale is the power of two under which the largest magnitude is
// from 4 to 8, and each number the nearest that there is, of two as near the smaller one. A
// number that is not finite makes the scale the largest, and itself infinite.
func QuantizeMXFP4(dst *[17]byte, src *[32]float32) {
	most, finite := float32(0), true
	for _, x := range src {
		most = max(most, x, -x)
		finite = finite && x-x == 0
	}
	*dst = [17]byte{}
	switch {
	case !finite:
		dst[0] = 255
	case most > 0:
		_, exponent := math.Frexp(float64(most)) // of a fraction from 1/2 to 1
		dst[0] = byte(max(0, exponent-3+127))
	}
	d := halfE8M0(dst[0])
	for i, x := range src {
		dst[1+i%16] |= nearestE2M1(x, d) << (i / 16 * 4)
	}
}

// nearestE2M1 is the number of 4 bits that is nearest to x under a halved scale.
func nearestE2M1(x, halved float32) (q byte) {
	size := max(x, -x)
	least := size
	for i, v := range e2m1[:8] {
		if off := float32(math.Abs(float64(halved*(2*v)) - float64(size))); off < least {
			q, least = byte(i), off
		}
	}
	if x-x != 0 {
		q = 7
	}
	if q > 0 && x < 0 {
		q |= 8
	}
	return q
}
