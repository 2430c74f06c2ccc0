package model

import "math"

// ToF16 rounds a number to the nearest IEEE 754 half, ties to even, and gives its bits.
// What is too large becomes infinite, NaN a quiet one.
func ToF16(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000: // NaN
		return sign | 0x7e00
	case bits >= 0x477ff000: // from 65520 on, which is a tie, the nearest half is infinite
		return sign | 0x7c00
	case bits < 0x38800000: // below 2^-14 halves are multiples of 2^-24
		// 0.5 has an ulp of 2^-24, so that the addition rounds, ties to even.
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-0x3f000000)
	}
	const rebias = (127 - 15) << 23
	return sign | uint16((bits-rebias+0xfff+bits>>13&1)>>13)
}

// FromF16 widens an IEEE 754 half. The exponent is moved by a multiplication, which
// is exact and handles subnormals; infinities and NaNs keep their mantissa.
func FromF16(h uint16) float32 {
	const bias = 0x1p112 // 2^(127-15)
	bits := uint32(h&0x7fff) << 13
	if h&0x7c00 == 0x7c00 {
		bits |= 0x7f800000
	} else {
		bits = math.Float32bits(math.Float32frombits(bits) * bias)
	}
	return math.Float32frombits(bits | uint32(h&0x8000)<<16)
}
