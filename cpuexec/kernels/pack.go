package kernels

import (
	"encoding/binary"
	"math"

	"github.com/cbactor/cbactor/model"
)

// The sizes of GGUF's blocks of 32 numbers: a half d and 32 bytes; halves d and m and 16
// bytes of two nibbles; the same without m.
const (
	q8Stored  = 2 + Block
	q4Stored  = 2 + 2 + Block/2
	q40Stored = 2 + Block/2
)

// Places in a block of a panel: of halves, one a column.
const (
	q8Scales = 2 * nibbles
	q4Scales = nibbles
	q4Minima = q4Scales + 2*Panel
)

// PackQ8 makes a block of Q8_0, as it is stored, block b of column c of a panel.
func PackQ8(panel, stored []byte, c, b int) {
	block, stored := panel[b*q8Block:][:q8Block], stored[:q8Stored]
	for j := 0; j < Block; j += 4 {
		four := binary.LittleEndian.Uint32(stored[2+j:])
		binary.LittleEndian.PutUint32(block[q8At(c, j):], four^0x80808080)
	}
	copy(block[q8Scales+2*c:][:2], stored)
}

// PackQ4 does so with a block of Q4_1.
func PackQ4(panel, stored []byte, c, b int) {
	block, stored := panel[b*q4Block:][:q4Block], stored[:q4Stored]
	packNibbles(block, stored[4:], c)
	copy(block[q4Scales+2*c:][:2], stored)
	copy(block[q4Minima+2*c:][:2], stored[2:])
}

// PackQ40 does so with a block of Q4_0.
func PackQ40(panel, stored []byte, c, b int) {
	block, stored := panel[b*q40Block:][:q40Block], stored[:q40Stored]
	packNibbles(block, stored[2:], c)
	copy(block[q4Scales+2*c:][:2], stored)
}

// packNibbles takes 16 bytes as GGUF has them: low nibbles are the first 16 k.
func packNibbles(block, stored []byte, c int) {
	for j := 0; j < Block/2; j += 4 {
		copy(block[q4At(c, j):][:4], stored[j:])
	}
}

// q8At is where in a block of a panel k number j of column c lies.
func q8At(c, j int) int { return c/16*512 + j/4*64 + c%16*4 + j%4 }

// q4At is where in a block of a panel the byte with k number j, 0 to 15, of column c lies.
func q4At(c, j int) int { return c/16*256 + j/4*64 + c%16*4 + j%4 }

// PackBF16 rounds numbers of column c, from k number at on.
func PackBF16(panel []uint16, x []float32, c, at int) {
	for i, v := range x {
		panel[(at+i)/2*2*Panel+2*c+(at+i)%2] = model.ToBF16(v)
	}
}

// PackC8 makes 32 numbers block b of column c, of which most is the largest magnitude.
func PackC8(panel []byte, x *[Block]float32, c, b int, most float32) {
	inverse, _ := byteScale([]float32{most})
	for j, v := range x {
		panel[c8At(c, b*Block+j)] = byte(toByte(v*inverse)) ^ 0x80
	}
}

// PackC8Scale gives column c of a panel of so many blocks its scale.
func PackC8Scale(panel []byte, c, blocks int, most float32) {
	_, scale := byteScale([]float32{most})
	binary.LittleEndian.PutUint32(panel[blocks*Block*Panel+4*c:], math.Float32bits(scale))
}

// c8At is where in a panel k number j of column c lies.
func c8At(c, j int) int { return j/4*4*Panel + 4*c + j%4 }
