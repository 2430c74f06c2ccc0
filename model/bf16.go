package model

import "math"

// ToBF16 rounds to the nearest bf16, ties to even, and gives its bits. What is too large
// becomes infinite, and a NaN stays one.
func ToBF16(x float32) uint16 {
	bits := math.Float32bits(x)
	if x != x {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
