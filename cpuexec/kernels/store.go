package kernels

import "math"

// storeBF16Go is StoreBF16.
func storeBF16Go(k, v []float32, kPage, vPage []uint16, kPitch, at int) {
	for d, x := range k {
		kPage[d*kPitch+at] = narrow(x)
	}
	for d, x := range v {
		vPage[at*len(v)+d] = narrow(x)
	}
}

// narrow rounds to bf16, ties to even; a NaN stays one.
func narrow(x float32) uint16 {
	bits := math.Float32bits(x)
	if x != x {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
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
	var most uint32 // of the bits of |x|, which order as the numbers do, infinities and NaNs above them
	for _, v := range x {
		most = max(most, math.Float32bits(v)&0x7fffffff)
	}
	top := math.Float32frombits(most)
	if top < tiny {
		top = tiny
	}
	return 127 / top, float32(top * (1.0 / 127))
}
