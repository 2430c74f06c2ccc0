package kernels

import (
	"math"

	"github.com/cbactor/cbactor/model"
)

// storeBF16Go is StoreBF16.
func storeBF16Go(k, v []float32, kPage, vPage []uint16, kPitch, at int) {
	for d, x := range k {
		kPage[d*kPitch+at] = model.ToBF16(x)
	}
	for d, x := range v {
		vPage[at*len(v)+d] = model.ToBF16(x)
	}
}

// storeInt8Go is StoreInt8.
func storeInt8Go(k, v []float32, kPage, vPage []byte, kScales, vScales []float32, kPitch, at int) {
	inverse, scale := byteScale(k)
	kScales[at] = scale
	for d, x := range k {
		kPage[d/4*4*kPitch+4*at+d%4] = byte(toByte(x*inverse)) ^ 0x80
	}
	inverse, scale = byteScale(v)
	vScales[at] = scale
	for d, x := range v {
		vPage[at/4*4*len(v)+4*d+at%4] = byte(toByte(x * inverse))
	}
}

// byteScale is 127 over the largest |x|, and the inverse.
func byteScale(x []float32) (inverse, scale float32) {
	top := largest(x)
	return 127 / top, float32(top * (1.0 / 127))
}

// largest is the largest |x|, tiny at least; of a NaN or an infinity it is one.
func largest(x []float32) float32 {
	var most uint32 // of the bits of |x|, which order as the numbers do, infinities and NaNs above them
	for _, v := range x {
		most = max(most, math.Float32bits(v)&0x7fffffff)
	}
	top := math.Float32frombits(most)
	if top < tiny {
		top = tiny
	}
	return top
}

// integer rounds to the nearest, ties to even, from least to most; a NaN is least.
func integer(v, least, most float32) int32 {
	if !(v > least) {
		v = least
	}
	if !(v < most) {
		v = most
	}
	return int32(math.RoundToEven(float64(v)))
}
