package kernels

// Block is how many k of a row share a scale in the 8-bit and 4-bit formats.
const Block = 32

// Format is how a weight panel is stored. A panel has 32 columns, an output each; where
// k is no multiple of what a format stores together, zeros follow.
type Format uint8

// The formats of panels.
const (
	// F32 is [k][32] float32.
	F32 Format = iota
	// BF16 is for each pair of k twice 16 columns of 2 k: [(k+1)/2][2][16][2] bf16.
	BF16
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
)

// Sizes of a block of a panel, of a packed row and of what closes a C8 panel, in bytes.
const (
	q8Block = 2*8*16*4 + 2*Panel
	q4Block = 2*4*16*4 + 2*2*Panel
	xBlock  = Block + 4*4
	c8Scale = 4 * Panel
)

// Places in a block of a packed row, behind its bytes.
const (
	xScale  = Block       // float32: the scale s
	xSums   = xScale + 4  // float32: s times the sum of the bytes
	xOffset = xSums + 4   // int32: the bits of magic, less 128 times the sum
	xBias   = xOffset + 4 // float32: -magic times s
)

// PanelBytes is the size of a panel of k rows.
func (f Format) PanelBytes(k int) int {
	switch f {
	case BF16:
		return (k + 1) / 2 * 2 * 2 * Panel
	case Q8:
		return Blocks(k) * q8Block
	case Q4:
		return Blocks(k) * q4Block
	case C8:
		return Blocks(k)*Block*Panel + c8Scale
	}
	return 4 * k * Panel
}

// String is the format's name.
func (f Format) String() string { return [...]string{"f32", "bf16", "q8", "q4", "c8"}[f] }

// Packs tells that products take packed rows, of Quantise or QuantiseC8.
func (f Format) Packs() bool { return f >= Q8 }

// Blocks is how many blocks k numbers take.
func Blocks(k int) int { return (k + Block - 1) / Block }

// PackedBytes is the size of rows of so many blocks, packed by Quantise.
func PackedBytes(rows, blocks int) int { return rows * blocks * xBlock }
