package kernels

import (
	"encoding/binary"
	"math"
)

// tiny bounds a block's largest number from below, so that its inverse is finite.
const tiny = 1e-30

// quantiseGo packs rows of x, blocks of 32 numbers each, as bytes and scales: s is a
// 127th of the largest |x| of a row's block, and a byte is x/s, rounded to the nearest.
// A block with a NaN or an infinity has such a scale, so that its products are none
// either. Rows lie from number row on in dst, whose groups have all blocks of a row;
// the first of x is block number first.
func quantiseGo(x []float32, dst []byte, row, rows, first, n, blocks, xStride int) {
	for r := range rows {
		group := dst[(row+r)/GroupRows*blocks*xBlock:]
		for b := range n {
			quantiseBlock((*[Block]float32)(x[r*xStride+b*Block:]), group[(first+b)*xBlock:], (row+r)%GroupRows)
		}
	}
}

// quantiseBlock packs a block of a row as number i of its group.
func quantiseBlock(x *[Block]float32, dst []byte, i int) {
	inverse, scale := byteScale(x[:])
	sum := int32(0)
	for j, v := range x {
		q := toByte(v * inverse)
		dst[i*Block+j] = byte(q)
		sum += int32(q)
	}
	binary.LittleEndian.PutUint32(dst[xScale+4*i:], math.Float32bits(scale))
	binary.LittleEndian.PutUint32(dst[xSums+4*i:], math.Float32bits(scale*float32(sum)))
	binary.LittleEndian.PutUint32(dst[xOffset+4*i:], uint32(-128*sum))
}

// toByte rounds to the nearest, ties to even, from -127 to 127; a NaN is -127.
func toByte(v float32) int8 {
	if !(v > -127) {
		v = -127
	}
	if !(v < 127) {
		v = 127
	}
	return int8(math.RoundToEven(float64(v)))
}

// gemmQ8Go is GemmQ8: sums of products are exact in a block, then
// out = fma(d, float(sum)*s, out) over ascending blocks.
func gemmQ8Go(w, x []byte, out []float32, blocks, rows, outStride int) {
	for r := range rows {
		group, i := x[r/GroupRows*blocks*xBlock:], r%GroupRows
		var sums [Panel]float32
		for b := range blocks {
			wb, xb := w[b*q8Block:][:q8Block], group[b*xBlock:][:xBlock]
			s := float32At(xb, xScale+4*i)
			for c := range sums {
				var sum int32
				for j := range Block {
					sum += int32(int8(wb[q8At(c, j)]^0x80)) * int32(int8(xb[i*Block+j]))
				}
				sums[c] = fma(f16At(wb, 1024+2*c), float32(sum)*s, sums[c])
			}
		}
		copy(out[r*outStride:], sums[:])
	}
}

// q8At is where in a block k number j of column c lies.
func q8At(c, j int) int { return c/16*512 + j/4*64 + c%16*4 + j%4 }

// gemmQ4Go is GemmQ4: as gemmQ8Go, and after each block out = fma(m, s*sum(x), out).
func gemmQ4Go(w, x []byte, out []float32, blocks, rows, outStride int) {
	for r := range rows {
		group, i := x[r/GroupRows*blocks*xBlock:], r%GroupRows
		var sums [Panel]float32
		for b := range blocks {
			wb, xb := w[b*q4Block:][:q4Block], group[b*xBlock:][:xBlock]
			s, sx := float32At(xb, xScale+4*i), float32At(xb, xSums+4*i)
			for c := range sums {
				var sum int32
				for j := range Block / 2 {
					q := wb[q4At(c, j)]
					sum += int32(q&15)*int32(int8(xb[i*Block+j])) + int32(q>>4)*int32(int8(xb[i*Block+j+16]))
				}
				sums[c] = fma(f16At(wb, 512+2*c), float32(sum)*s, sums[c])
				sums[c] = fma(f16At(wb, 576+2*c), sx, sums[c])
			}
		}
		copy(out[r*outStride:], sums[:])
	}
}

// q4At is where in a block the byte with k number j, 0 to 15, of column c lies.
func q4At(c, j int) int { return c/16*256 + j/4*64 + c%16*4 + j%4 }

func float32At(b []byte, at int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[at:]))
}

// f16At widens the half at a place.
func f16At(b []byte, at int) float32 { return halfToFloat(binary.LittleEndian.Uint16(b[at:])) }

// halfToFloat widens an IEEE 754 half as VCVTPH2PS does.
func halfToFloat(h uint16) float32 {
	bits := uint32(h&0x7fff) << 13
	if h&0x7c00 == 0x7c00 {
		bits |= 0x7f800000
	} else {
		bits = math.Float32bits(math.Float32frombits(bits) * 0x1p112)
	}
	return math.Float32frombits(bits | uint32(h&0x8000)<<16)
}
