package model

import (
	"encoding/binary"
	"math"
)

// e2m1 are the numbers of 4 bits of the OCP Microscaling formats (version 1.0, section
// 5.3.3): a sign, two bits of exponent, one of mantissa.
var e2m1 = [16]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6}

// mxfp4Block widens an E8M0 scale, 2^(e-127), and 32 numbers of 4 bits. As ggml does it,
// the scale is halved and the numbers are doubled, so that e = 0 has half a float32 too,
// and e = 255, which the format calls NaN, is 2^128.
func mxfp4Block(dst []float32, src []byte) {
	halved := halfE8M0(src[0])
	var values [16]float32
	for q, x := range e2m1 {
		values[q] = halved * (2 * x)
	}
	nibbles((*[32]float32)(dst), (*[16]byte)(src[1:]), &values)
}

// halfE8M0 is half of a scale of 8 bits, 2^(e-128).
func halfE8M0(e byte) float32 {
	if e < 2 {
		return math.Float32frombits(0x00200000 << e)
	}
	return math.Float32frombits((uint32(e) - 1) << 23)
}

// e4m3 are the numbers of 8 bits of the OCP 8-bit floating point specification (version
// 1.0, section 5): a sign, four bits of exponent with bias 7, three of mantissa. There is
// no infinity, and all bits but the sign set are NaN.
var e4m3 = func() (t [256]float32) {
	for b := range t {
		exponent, mantissa := b>>3&15, float64(b&7)
		x := math.Ldexp(8+mantissa, exponent-10)
		switch {
		case b&0x7f == 0x7f:
			x = math.NaN()
		case exponent == 0:
			x = math.Ldexp(mantissa, -9)
		}
		t[b] = float32(math.Copysign(x, float64(127-b)))
	}
	return t
}()

// fp8Block widens a scale and 128 numbers of 8 bits: w = d*q.
func fp8Block(dst []float32, src []byte) {
	d := math.Float32frombits(binary.LittleEndian.Uint32(src))
	to, from := (*[128]float32)(dst), (*[128]byte)(src[4:])
	for i, q := range from {
		to[i] = d * e4m3[q]
	}
}
