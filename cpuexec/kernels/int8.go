package kernels

import (
	"encoding/binary"
	"math"

	"github.com/cbactor/cbactor/model"
)

// tiny bounds a block's largest number from below, so that its inverse is finite.
const tiny = 1e-30

// magic plus an integer of less than 2^22 either way is a float whose bits are those of
// magic plus the integer.
const (
	magic     = 0x1.8p23
	magicBits = 0x4b400000
)

// quantiseGo packs rows of x, blocks of 32 numbers each, as bytes and scales: a byte is
// x times 127 over the largest |x| of a row's block, rounded to the nearest. Rows lie
// from number row on in dst; the first of x is block number first.
func quantiseGo(x []float32, dst []byte, row, rows, first, n, blocks, xStride int) {
	for r := range rows {
		packed := dst[PackedBytes(row+r, blocks)+first*xBlock:]
		for b := range n {
			quantiseBlock(x[r*xStride+b*Block:][:Block], packed[b*xBlock:][:xBlock])
		}
	}
}

// quantiseBlock packs a block of a row.
func quantiseBlock(x []float32, dst []byte) {
	inverse, scale, bias := blockScale(x)
	var halves [2]int32
	for j, v := range x {
		q := toByte(v * inverse)
		dst[j] = byte(q)
		halves[j/(Block/2)] += int32(q)
	}
	sum := halves[0] + halves[1]
	binary.LittleEndian.PutUint32(dst[xScale:], math.Float32bits(scale))
	binary.LittleEndian.PutUint32(dst[xSums:], math.Float32bits(scale*float32(sum)))
	binary.LittleEndian.PutUint32(dst[xOffset:], uint32(magicBits-128*sum))
	binary.LittleEndian.PutUint32(dst[xBias:], math.Float32bits(bias))
	for h, sum := range halves {
		binary.LittleEndian.PutUint32(dst[xHalves+4*h:], uint32(magicBits-32*sum))
	}
}

// blockScale is byteScale with a scale of 22 bits, and -magic times it, which is exact
// then: so (magic+sum)*s - magic*s is sum*s, rounded once. Of a NaN, an infinity or a
// number of 1e33 and more the scale is NaN.
func blockScale(x []float32) (inverse, scale, bias float32) {
	inverse, scale = byteScale(x)
	scale = math.Float32frombits(math.Float32bits(scale) &^ 3)
	bias = float32(scale * -magic)
	return inverse, scale + (bias - bias), bias
}

// toByte is an integer of a byte, from -127 to 127.
func toByte(v float32) int8 { return int8(integer(v, -127, 127)) }

func float32At(b []byte, at int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[at:]))
}

// f16At widens the half at a place.
func f16At(b []byte, at int) float32 { return model.FromF16(binary.LittleEndian.Uint16(b[at:])) }
