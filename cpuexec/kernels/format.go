package kernels

// Block is how many k of a row share a scale when it is packed, and at most in a panel of
// less than 8 bits.
const Block = 32

// Super is how many k of a column share the scale of their scales in Q4K, Q5K and Q6K, which
// have a multiple of it.
const Super = 256

// Format is how a weight panel is stored. A panel has 32 columns, an output each; where
// k is no multiple of what a format stores together, zeros follow.
type Format uint8

// The formats of panels.
const (
	// F32 is [k][32] float32.
	F32 Format = iota
	// BF16 is for each pair of k twice 16 columns of 2 k: [(k+1)/2][2][16][2] bf16.
	BF16
	// MXFP4 is w = d*q, q one of 16 numbers of E2M1. For each 32 k a block of 576 bytes: [4][32][4]
	// bytes, of 8 k, 32 columns and 2 k, in low and high nibbles, then 32 d/2 in bf16.
	MXFP4
	// Q8 is GGUF's Q8_0, w = d*q. For each 32 k a block of 1,088 bytes: the bytes
	// [2][8][16][4], of 16 columns, 4 k and 4 times 8 more, each q+128, then 32 d in f16.
	Q8
	// Q4 is GGUF's Q4_1, w = d*q + m. For each 32 k a block of 640 bytes:
	// [2][4][16][4], of 16 columns and 4 bytes, whose low nibbles are 4 k of the first
	// 16 and whose high ones 4 k of the last, then 32 d and 32 m in f16.
	Q4
	// C8 is w = d*q with one d for a column: [k/4][2][16][4] bytes, each q+128, k rounded
	// up to 32, then 32 d in float32.
	C8
	// Q40 is GGUF's Q4_0, w = d*(q-8): for each 32 k the nibbles of Q4, then 32 d in f16.
	Q40
	// Q4K is GGUF's Q4_K, w = d*s*q - e*m, with one d and e for 256 k. For each 256 k 32 d
	// and 32 -e in f16, then 8 times the nibbles of Q4, 32 s and 32 m, in a byte each.
	Q4K
	// Q5K is GGUF's Q5_K: Q4K, with the fifth bits behind the nibbles: [2][16][4] bytes,
	// of 16 columns and 4 k, bit i being that of 4*i k more.
	Q5K
	// Q6K is GGUF's Q6_K, w = d*s*(q-32), with one d for 256 k and one s, signed, for 16.
	// For each 256 k 32 d in f16, then 8 times: [2][4][16][4] bytes, of 16 columns, 8 k
	// and 4 k, whose high nibbles are the next 4 k; the bits above, [2][2][16][4] bytes, of
	// 16 columns, 16 k and 4 k, bits 2*i and 2*i+1 being those of 4*i k more; 32 s of the
	// first 16 k, and 32 of the last.
	Q6K

	formats = iota
)

// Sizes of a block of a panel, of what stands before 8 of them, of a packed row and of what
// closes a C8 panel, in bytes.
const (
	nibbles  = 2 * 4 * 16 * 4
	q8Block  = 2*nibbles + 2*Panel
	q4Block  = nibbles + 2*2*Panel
	q40Block = nibbles + 2*Panel
	q4kBlock = nibbles + 2*Panel
	q5kBlock = nibbles + nibbles/4 + 2*Panel
	q6kBlock = nibbles + nibbles/2 + 2*Panel
	q4kHead  = 2 * 2 * Panel // of Q5K too
	q6kHead  = 2 * Panel
	xBlock   = Block + 6*4
	c8Scale  = 4 * Panel

	mxfp4Block = nibbles + 2*Panel
)

// Places in a block of a packed row, behind its bytes.
const (
	xScale  = Block       // float32: the scale s
	xSums   = xScale + 4  // float32: s times the sum of the bytes
	xOffset = xSums + 4   // int32: the bits of magic, less 128 times the sum
	xBias   = xOffset + 4 // float32: -magic times s
	xHalves = xBias + 4   // 2 of int32: the bits of magic, less 32 times the sum of 16 bytes
)

// PanelBytes is the size of a panel of k rows.
func (f Format) PanelBytes(k int) int {
	switch f {
	case F32:
		return 4 * k * Panel
	case BF16:
		return (k + 1) / 2 * 2 * 2 * Panel
	case C8:
		return Blocks(k)*Block*Panel + c8Scale
	}
	return Blocks(k) * f.blockBytes()
}

// blockBytes is the size of 32 k of a panel whose scales lie among the numbers, with
// their share of what stands before 8 blocks.
func (f Format) blockBytes() int {
	return [formats]int{
		MXFP4: mxfp4Block, Q8: q8Block, Q4: q4Block, Q40: q40Block,
		Q4K: q4kBlock + q4kHead/8, Q5K: q5kBlock + q4kHead/8, Q6K: q6kBlock + q6kHead/8,
	}[f]
}

// String is the format's name.
func (f Format) String() string {
	return [formats]string{"f32", "bf16", "mxfp4", "q8", "q4", "c8", "q40", "q4k", "q5k", "q6k"}[f]
}

// Packs tells that products take packed rows, of Quantise or QuantiseC8.
func (f Format) Packs() bool { return f >= Q8 }

// Blocks is how many blocks k numbers take.
func Blocks(k int) int { return (k + Block - 1) / Block }

// PackedBytes is the size of rows of so many blocks, packed by Quantise.
func PackedBytes(rows, blocks int) int { return rows * blocks * xBlock }
