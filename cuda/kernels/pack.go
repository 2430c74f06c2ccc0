package kernels

import "encoding/binary"

// Sizes of blocks of 32 rows, in bytes, and where in them scales, and minima, begin.
const (
	q8Scales = Block * Block
	q8Block  = q8Scales + 2*Block
	q4Row    = Block / 2
	q4Scales = Block * q4Row
	q4Minima = q4Scales + 2*Block
	q4Block  = q4Minima + 2*Block
)

// PackQ8 puts 32 numbers into block b of row r of a panel in Q8, stored as GGUF's Q8_0: a scale in
// f16 and signed bytes.
func PackQ8(panel, stored []byte, r, b int) {
	block := panel[b*q8Block:][:q8Block]
	copy(block[q8Scales+2*r:][:2], stored)
	for i, q := range stored[2:][:Block] {
		block[r*Block+i] = q ^ 0x80
	}
}

// PackQ4 puts 32 numbers into block b of row r of a panel in Q4, stored as GGUF's Q4_1: a scale and
// a minimum in f16, and nibbles, the low ones of which are the first 16.
func PackQ4(panel, stored []byte, r, b int) {
	block := panel[b*q4Block:][:q4Block]
	copy(block[q4Scales+2*r:][:2], stored)
	copy(block[q4Minima+2*r:][:2], stored[2:])
	row, nibbles := block[r*q4Row:][:q4Row], stored[4:]
	for w := range q4Row / 4 {
		word := uint32(0)
		for i := range 8 {
			at := 8*w + i
			q := uint32(nibbles[at%16]>>(at/16*4)) & 15
			word |= q << (i/2*4 + i%2*16)
		}
		binary.LittleEndian.PutUint32(row[4*w:], word)
	}
}
