package model

import (
	"encoding/binary"
	"math"
)

// Dequantize widens the stored numbers of src to dst. len(dst) is a multiple of
// the type's block, and src holds at least that many numbers. It does not
// allocate. The block formats are those of ggml (ggml-quants.c): products and
// sums are rounded to float32 one by one.
func Dequantize(dst []float32, src []byte, t DType) {
	src = src[:t.RowBytes(len(dst))]
	switch t {
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case F16:
		for i := range dst {
			dst[i] = FromF16(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case BF16:
		for len(dst) >= 4 && len(src) >= 8 {
			v, four := binary.LittleEndian.Uint64(src), (*[4]float32)(dst)
			four[0] = math.Float32frombits(uint32(v) << 16)
			four[1] = math.Float32frombits(uint32(v) &^ 0xffff)
			four[2] = math.Float32frombits(uint32(v>>32) << 16)
			four[3] = math.Float32frombits(uint32(v>>32) &^ 0xffff)
			dst, src = dst[4:], src[8:]
		}
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
		}
	case Q8_0:
		for len(dst) >= 32 && len(src) >= 34 {
			q8Block((*[32]float32)(dst), (*[34]byte)(src))
			dst, src = dst[32:], src[34:]
		}
	case Q4_1:
		for len(dst) >= 32 && len(src) >= 20 {
			q4Block((*[32]float32)(dst), (*[20]byte)(src))
			dst, src = dst[32:], src[20:]
		}
	}
}

// q8Block widens a scale and 32 signed bytes: w = d*q.
func q8Block(dst *[32]float32, src *[34]byte) {
	d := FromF16(binary.LittleEndian.Uint16(src[:]))
	for i := range dst {
		dst[i] = d * float32(int8(src[2+i]))
	}
}

// q4Block widens a scale, a minimum and 32 nibbles: w = d*q + m. Byte i has
// weight i in its low nibble and weight i+16 in its high one. There are only 16
// values in a block, so they are computed once and looked up.
func q4Block(dst *[32]float32, src *[20]byte) {
	d := FromF16(binary.LittleEndian.Uint16(src[:]))
	m := FromF16(binary.LittleEndian.Uint16(src[2:]))
	var values [16]float32
	for q := range values {
		values[q] = float32(d*float32(q)) + m // the conversion forbids a fused multiply-add
	}
	for i, q := range src[4:] {
		dst[i] = values[q&15]
		dst[i+16] = values[q>>4]
	}
}
