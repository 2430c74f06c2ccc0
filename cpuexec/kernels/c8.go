package kernels

import (
	"encoding/binary"
	"math"
)

// C8Group is how many numbers of a row share a scale where the weights have one a
// column: the sums of a group stay in 32-bit integers. The last group is shorter where
// need be.
const C8Group = 256

// C8Rows is how many rows lie side by side in what QuantiseC8 packs.
const C8Rows = 8

// c8Bytes is the size of 8 rows of so many blocks: for each group [n/4][8][4] bytes, then
// 8 scales in float32 and 8 times -128 times the sum of the bytes in int32.
func c8Bytes(blocks int) int { return C8Rows*Block*blocks + c8Groups(blocks)*2*4*C8Rows }

func c8Groups(blocks int) int { return (blocks*Block + C8Group - 1) / C8Group }

// C8Bytes is the size of rows of so many blocks, packed by QuantiseC8.
func C8Bytes(rows, blocks int) int { return (rows + C8Rows - 1) / C8Rows * c8Bytes(blocks) }

// quantiseC8Go packs rows of x of so many blocks, from number row on in dst, as
// quantiseGo does, with a scale for each group.
func quantiseC8Go(x []float32, dst []byte, row, rows, blocks, xStride int) {
	for r := range rows {
		part, i := dst[(row+r)/C8Rows*c8Bytes(blocks):], (row+r)%C8Rows
		for at, k := 0, blocks*Block; at < k; at += C8Group {
			n := min(C8Group, k-at)
			packC8(x[r*xStride+at:][:n], part, i)
			part = part[C8Rows*n+2*4*C8Rows:]
		}
	}
}

// packC8 packs a group of a row as number i of 8.
func packC8(x []float32, dst []byte, i int) {
	inverse, scale := byteScale(x)
	sum := int32(0)
	for j, v := range x {
		q := toByte(v * inverse)
		dst[j/4*4*C8Rows+4*i+j%4] = byte(q)
		sum += int32(q)
	}
	tail := dst[C8Rows*len(x):]
	binary.LittleEndian.PutUint32(tail[4*i:], math.Float32bits(scale))
	binary.LittleEndian.PutUint32(tail[4*C8Rows+4*i:], uint32(-128*sum))
}

// gemmC8Go is GemmC8: sums of products are exact in a group, then
// out = fma(float(sum), s, out) over ascending groups, and in the end times d.
func gemmC8Go(w, x []byte, out []float32, blocks, rows, outStride int) {
	k := blocks * Block
	for r := range rows {
		part, i := x[r/C8Rows*c8Bytes(blocks):], r%C8Rows
		var sums [Panel]float32
		for at := 0; at < k; at += C8Group {
			n := min(C8Group, k-at)
			s := float32At(part, C8Rows*n+4*i)
			for c := range sums {
				var sum int32
				for j := range n {
					q := w[(at+j)/4*4*Panel+c*4+j%4] ^ 0x80
					sum += int32(int8(q)) * int32(int8(part[j/4*4*C8Rows+4*i+j%4]))
				}
				sums[c] = fma(float32(sum), s, sums[c])
			}
			part = part[C8Rows*n+2*4*C8Rows:]
		}
		for c := range sums {
			out[r*outStride+c] = sums[c] * float32At(w, k*Panel+4*c)
		}
	}
}
