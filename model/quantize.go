package model

import (
	"encoding/binary"
	"math"
)

// QuantizeQ8 makes a block of Q8_0 of 32 numbers, as quantize_row_q8_0_ref of ggml
// (ggml-quants.c) does: the scale is a 127th of the largest magnitude, rounded to a half,
// bytes are rounded by the scale before that, ties away from zero. A number
// that is not finite makes the scale that, and bytes 0.
func QuantizeQ8(dst *[34]byte, src *[32]float32) {
	most := float32(0)
	for _, x := range src {
		most = max(most, x, -x)
	}
	d := most / 127
	binary.LittleEndian.PutUint16(dst[:], ToF16(d))
	factor := inverse(d)
	for i, x := range src {
		dst[2+i] = byte(toInt8(math.Round(float64(x * factor))))
	}
}

// QuantizeQ4 makes a block of Q4_1 of 32 numbers, as quantize_row_q4_1_ref of ggml does:
// the scale is a 15th of the range, and nibbles are rounded by scale and minimum before
// these are rounded to halves. A number that is not finite makes one of these that, and
// nibbles 0.
func QuantizeQ4(dst *[20]byte, src *[32]float32) {
	low, high := src[0], src[0]
	for _, x := range src {
		low, high = min(low, x), max(high, x)
	}
	d := (high - low) / 15
	binary.LittleEndian.PutUint16(dst[:], ToF16(d))
	binary.LittleEndian.PutUint16(dst[2:], ToF16(low))
	factor := inverse(d)
	nibble := func(x float32) byte { return byte(min(15, toInt8(float64(float32((x-low)*factor)+0.5)))) }
	for i := range 16 {
		dst[4+i] = nibble(src[i]) | nibble(src[16+i])<<4
	}
}

// QuantizeQ40 makes a block of Q4_0 of 32 numbers, as quantize_row_q4_0_ref of ggml does:
// the scale is an eighth of the number of the largest magnitude, which becomes -8. A number
// that is not finite makes the scale that.
func QuantizeQ40(dst *[18]byte, src *[32]float32) {
	most := float32(0)
	for _, x := range src {
		if x != x || max(x, -x) > max(most, -most) {
			most = x
		}
	}
	d := most / -8
	binary.LittleEndian.PutUint16(dst[:], ToF16(d))
	factor := inverse(d)
	nibble := func(x float32) byte { return byte(min(15, toInt8(float64(float32(x*factor)+8.5)))) }
	for i := range 16 {
		dst[2+i] = nibble(src[i]) | nibble(src[16+i])<<4
	}
}

// inverse is 1/d, or 0 where all numbers are equal.
func inverse(d float32) float32 {
	if d == 0 {
		return 0
	}
	return 1 / d
}

// toInt8 cuts x off after the point. What no int8 has, NaN too, is 0, as it differs between
// CPUs what a conversion of it gives.
func toInt8(x float64) int8 {
	if x >= math.MinInt8 && x <= math.MaxInt8 {
		return int8(x)
	}
	return 0
}
