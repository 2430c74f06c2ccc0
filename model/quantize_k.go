package model

import (
	"encoding/binary"
	"math"
)

// QuantizeQ4K makes a block of Q4_K of 256 numbers. Scale and minimum of each 32 are those
// of their range, 0 included; ggml's quantiser searches for better ones, so this one is
// meant for weights that take the place of such as are stored so. A number that is not
// finite makes the block's scales that.
func QuantizeQ4K(dst *[144]byte, src *[256]float32) {
	clear(dst[:])
	scales, minima := quantizeHead(dst[:16], src, 15)
	for i, x := range src {
		q := toRange((x+minima[i/32])/scales[i/32], 0, 15)
		dst[16+i/64*32+i%32] |= byte(q) << (i / 32 % 2 * 4)
	}
}

// QuantizeQ5K makes a block of Q5_K likewise.
func QuantizeQ5K(dst *[176]byte, src *[256]float32) {
	clear(dst[:])
	scales, minima := quantizeHead(dst[:16], src, 31)
	for i, x := range src {
		q := toRange((x+minima[i/32])/scales[i/32], 0, 31)
		dst[16+i%32] |= byte(q) >> 4 << (i / 32)
		dst[48+i/64*32+i%32] |= byte(q) & 15 << (i / 32 % 2 * 4)
	}
}

// quantizeHead writes the scales and minima of blocks whose numbers go up to top, and
// answers what numbers of each 32 are multiplied with then, and what is subtracted.
func quantizeHead(dst []byte, src *[256]float32, top float32) (scales, minima [8]float32) {
	for i, x := range src {
		scales[i/32], minima[i/32] = max(scales[i/32], x), max(minima[i/32], -x)
	}
	for i := range scales {
		scales[i] = (scales[i] + minima[i]) / top
	}
	var s, m [8]byte
	sixBits(&s, &scales, dst)
	sixBits(&m, &minima, dst[2:])
	for i := range 4 {
		dst[4+i] = s[i] | s[i+4]>>4<<6
		dst[8+i] = m[i] | m[i+4]>>4<<6
		dst[12+i] = s[i+4]&15 | m[i+4]&15<<4
	}
	return scales, minima
}

// sixBits makes numbers of 6 bits of x, which become what these say, with a half that they
// are to be multiplied with.
func sixBits(to *[8]byte, x *[8]float32, half []byte) {
	d := storeHalf(half, largest(x[:])/63)
	for i := range x {
		to[i] = byte(toRange(x[i]/d, 0, 63))
		x[i] = d * float32(to[i])
	}
}

// QuantizeQ6K makes a block of Q6_K of 256 numbers: the scale of each 16 is a 31st of their
// largest magnitude, whose 127th part is the block's, rounded to a half. It is to ggml's
// quantiser what QuantizeQ4K is.
func QuantizeQ6K(dst *[210]byte, src *[256]float32) {
	clear(dst[:])
	var scales [16]float32
	for i, x := range src {
		scales[i/16] = max(scales[i/16], x, -x)
	}
	d := storeHalf(dst[208:], largest(scales[:])/31/127)
	for i := range scales {
		s := toRange(scales[i]/31/d, 0, 127)
		dst[192+i] = byte(s)
		scales[i] = d * float32(s)
	}
	for i, x := range src {
		q := byte(toRange(x/scales[i/16], -32, 31) + 32)
		half, l := i/128, i%32
		dst[64*half+i/32%2*32+l] |= q & 15 << (i % 128 / 64 * 4)
		dst[128+32*half+l] |= q >> 4 << (i % 128 / 32 * 2)
	}
}

// storeHalf writes x, and answers what was written.
func storeHalf(dst []byte, x float32) float32 {
	h := ToF16(x)
	binary.LittleEndian.PutUint16(dst, h)
	return FromF16(h)
}

func largest(x []float32) (most float32) {
	for _, v := range x {
		most = max(most, v)
	}
	return most
}

// toRange is the nearest integer of a range. What is none, of 0/0 too, is 0.
func toRange(x float32, lo, hi int) int {
	if x != x {
		return 0
	}
	return int(min(max(math.Round(float64(x)), float64(lo)), float64(hi)))
}
