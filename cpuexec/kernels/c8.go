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

// gemmC8Go is the product of C8: sums of products are exact in a group, then
// out = fma(float(sum), s, out) over ascending groups, and in the end times d.
func gemmC8Go(w, x []byte, out []float32, blocks, rows, outStride int) {
	size := C8.PanelBytes(blocks * Block)
	if rows == 1 {
		for ; len(out) >= Panel; w, out = w[size:], out[Panel:] {
			eightC8(w[:size], x, out, blocks, 1, Panel)
		}
		return
	}
	for r := 0; r < rows; r += C8Rows {
		eightC8(w[:size], x[C8Bytes(r, blocks):], out[r*outStride:], blocks, min(C8Rows, rows-r), outStride)
	}
}

// eightC8 multiplies up to 8 rows with a panel.
func eightC8(w, x []byte, out []float32, blocks, rows, outStride int) {
	var sums [C8Rows][Panel]float32
	d := w[blocks*Block*Panel:]
	for at := 0; at < blocks; at += C8Group / Block {
		n := min(C8Group/Block, blocks-at)
		var dots [C8Rows]pairSums
		for b := range n {
			var q pairs
			q.unpackC8(w[(at+b)*Block*Panel:][:Block*Panel])
			for i := range rows {
				x := c8Numbers(x[b*C8Rows*Block:], i)
				dots[i].add(&q, &x, 0, Block)
			}
		}
		tail := x[n*C8Rows*Block:]
		for i := range rows {
			s := float32At(tail, 4*i)
			for c := range sums[i] {
				sums[i][c] = fma(float32(dots[i].of(c)), s, sums[i][c])
			}
		}
		x = tail[2*4*C8Rows:]
	}
	for i := range rows {
		for c, v := range sums[i] {
			out[i*outStride+c] = v * float32At(d, 4*c)
		}
	}
}

// c8Numbers is 32 numbers of row i of 8.
func c8Numbers(x []byte, i int) (n [Block]int64) {
	for j := range n {
		n[j] = int64(int8(x[j/4*4*C8Rows+4*i+j%4]))
	}
	return n
}
