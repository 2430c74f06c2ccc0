package kernels

import "encoding/binary"

// Places in GGUF's blocks of 256 numbers (block_q4_K, block_q5_K and block_q6_K of ggml):
// halves d and e, 12 bytes of 8 scales and 8 minima, fifth bits, nibbles; nibbles, two bits
// above, 16 scales, d.
const (
	kStored       = 2 + 2 // scales and minima
	q4kNibbles    = kStored + 12
	q5kHigh       = q4kNibbles
	q5kNibbles    = q5kHigh + Super/8
	q6kHigh       = Super / 2
	q6kStored     = q6kHigh + Super/4 // scales
	q6kD          = q6kStored + Super/16
	q4kStoredSize = q4kNibbles + Super/2
	q5kStoredSize = q5kNibbles + Super/2
	q6kStoredSize = q6kD + 2
)

// Places in a block of a panel: of scales, in a byte each, behind which are minima or the
// scales of the last 16 k.
const (
	q4kScales = nibbles
	q5kScales = nibbles + nibbles/4
	q6kScales = nibbles + nibbles/2
)

// PackQ4K makes a block of Q4_K, as it is stored, 256 numbers of column c of a panel, from
// number 256*b on.
func PackQ4K(panel, stored []byte, c, b int) {
	panel, stored = panel[b*8*Q4K.blockBytes():], stored[:q4kStoredSize]
	packHead(panel, stored, c)
	for i := range 8 {
		block := panel[q4kHead+i*q4kBlock:][:q4kBlock]
		packPair(block, stored[q4kNibbles:], c, i)
		block[q4kScales+c], block[q4kScales+Panel+c] = scaleAndMinimum(stored[kStored:], i)
	}
}

// PackQ5K does so with a block of Q5_K.
func PackQ5K(panel, stored []byte, c, b int) {
	panel, stored = panel[b*8*Q5K.blockBytes():], stored[:q5kStoredSize]
	packHead(panel, stored, c)
	for i := range 8 {
		block := panel[q4kHead+i*q5kBlock:][:q5kBlock]
		packPair(block, stored[q5kNibbles:], c, i)
		bits := uint32(0)
		for g := range 8 {
			bits |= binary.LittleEndian.Uint32(stored[q5kHigh+4*g:]) >> i & 0x01010101 << g
		}
		binary.LittleEndian.PutUint32(block[nibbles+4*c:], bits)
		block[q5kScales+c], block[q5kScales+Panel+c] = scaleAndMinimum(stored[kStored:], i)
	}
}

// packHead takes the scale of scales, and that of minima, which are subtracted.
func packHead(panel, stored []byte, c int) {
	copy(panel[2*c:][:2], stored)
	copy(panel[2*Panel+2*c:][:2], stored[2:])
	panel[2*Panel+2*c+1] ^= 0x80
}

// packPair takes block i of 8, two of which share bytes: low nibbles are the first's.
func packPair(block, stored []byte, c, i int) {
	from, shift := stored[i/2*Block:], i%2*4
	for j := 0; j < Block/2; j += 4 {
		first := binary.LittleEndian.Uint32(from[j:]) >> shift & 0x0f0f0f0f
		last := binary.LittleEndian.Uint32(from[Block/2+j:]) >> shift & 0x0f0f0f0f
		binary.LittleEndian.PutUint32(block[q4At(c, j):], first|last<<4)
	}
}

// scaleAndMinimum are those of block i of 8, 6 bits each (get_scale_min_k4 of ggml): the
// first 4 lie in the low bits of a byte, the last 4 in nibbles and the bits left over.
func scaleAndMinimum(stored []byte, i int) (scale, minimum byte) {
	if i < 4 {
		return stored[i] & 63, stored[i+4] & 63
	}
	return stored[i+4]&15 | stored[i-4]>>6<<4, stored[i+4]>>4 | stored[i]>>6<<4
}

// PackQ6K does so with a block of Q6_K. Its halves of 128 numbers have 64 bytes of nibbles,
// low ones before high ones, and 32 bytes of two bits for each 32 numbers.
func PackQ6K(panel, stored []byte, c, b int) {
	panel, stored = panel[b*8*Q6K.blockBytes():], stored[:q6kStoredSize]
	copy(panel[2*c:][:2], stored[q6kD:])
	for i := range 8 {
		block := panel[q6kHead+i*q6kBlock:][:q6kBlock]
		low, shift := stored[i/4*64+i%2*Block:], i/2%2*4
		for j := 0; j < Block; j += 8 {
			first := binary.LittleEndian.Uint32(low[j:]) >> shift & 0x0f0f0f0f
			next := binary.LittleEndian.Uint32(low[j+4:]) >> shift & 0x0f0f0f0f
			binary.LittleEndian.PutUint32(block[q4At(c, j/2):], first|next<<4)
		}
		high := stored[q6kHigh+i/4*Block:]
		for h := range 2 {
			bits := uint32(0)
			for g := range 4 {
				bits |= binary.LittleEndian.Uint32(high[16*h+4*g:]) >> (i % 4 * 2) & 0x03030303 << (2 * g)
			}
			binary.LittleEndian.PutUint32(block[nibbles+c/16*128+h*64+c%16*4:], bits)
			block[q6kScales+h*Panel+c] = stored[q6kStored+2*i+h]
		}
	}
}
