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
	default:
		for len(src) > 0 {
			widenBlock(dst, src, t)
			dst, src = dst[dtypes[t].block:], src[dtypes[t].bytes:]
		}
	}
}

// widenBlock widens the first block of src.
func widenBlock(dst []float32, src []byte, t DType) {
	switch t {
	case Q8_0:
		q8Block(dst, src)
	case Q4_1:
		q41Block(dst, src)
	case Q4_0:
		q40Block(dst, src)
	case Q4_K:
		q4kBlock(dst, src)
	case Q5_K:
		q5kBlock(dst, src)
	case Q6_K:
		q6kBlock(dst, src)
	case MXFP4:
		mxfp4Block(dst, src)
	case FP8:
		fp8Block(dst, src)
	}
}

// half reads an f16.
func half(src []byte) float32 { return FromF16(binary.LittleEndian.Uint16(src)) }

// q8Block widens a scale and 32 signed bytes: w = d*q.
func q8Block(dst []float32, src []byte) {
	d, to, from := half(src), (*[32]float32)(dst), (*[34]byte)(src)
	for i := range to {
		to[i] = d * float32(int8(from[2+i]))
	}
}

// q41Block widens a scale, a minimum and 32 nibbles: w = d*q + m.
func q41Block(dst []float32, src []byte) {
	d, m := half(src), half(src[2:])
	var values [16]float32
	for q := range values {
		values[q] = float32(d*float32(q)) + m // the conversion forbids a fused multiply-add
	}
	nibbles((*[32]float32)(dst), (*[16]byte)(src[4:]), &values)
}

// q40Block widens a scale and 32 nibbles: w = d*(q-8).
func q40Block(dst []float32, src []byte) {
	d := half(src)
	var values [16]float32
	for q := range values {
		values[q] = d * float32(q-8)
	}
	nibbles((*[32]float32)(dst), (*[16]byte)(src[2:]), &values)
}

// nibbles looks up 32 numbers, of which there are only 16 values: byte i has number i in
// its low nibble and number i+16 in its high one.
func nibbles(dst *[32]float32, src *[16]byte, values *[16]float32) {
	for i, q := range src {
		dst[i] = values[q&15]
		dst[i+16] = values[q>>4]
	}
}
