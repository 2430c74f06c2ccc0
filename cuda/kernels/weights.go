package kernels

import "github.com/cbactor/cbactor/cuda"

// Format is how a matrix lies on the device, of rows of k numbers, a multiple of Block, padded
// with zeros.
type Format uint8

const (
	// BF16 is [n][k] bf16.
	BF16 Format = iota
	// Q8 is w = d*q, by one d for each 32 of a row: [n/32][k/32] blocks of 1,088 bytes, which are
	// [32 rows][32] bytes q+128, then 32 d in f16. n is rounded up.
	Q8
	// Q4 is w = d*q + m, by one d and m for each 32 of a row: [n/32][k/32] blocks of 640 bytes,
	// which are [32 rows][4] words of 8 numbers q, then 32 d and 32 m in f16. Number 2i of a word
	// is its nibble i, number 2i+1 its nibble 4+i. n is rounded up.
	Q4
)

// Block is how many numbers of a row, and in formats other than BF16 how many rows, lie together.
const Block = 32

// String is the format's name.
func (f Format) String() string { return [...]string{"bf16", "q8", "q4"}[f] }

// blockBytes is the size of 32 numbers of Height rows.
func (f Format) blockBytes() int {
	return [...]int{BF16: 2 * Block, Q8: q8Block, Q4: q4Block}[f]
}

// Height is how many rows lie together.
func (f Format) Height() int {
	if f == BF16 {
		return 1
	}
	return Block
}

// PanelBytes is the size of Height rows.
func (f Format) PanelBytes(k int) int { return k / Block * f.blockBytes() }

// Bytes is the size of a matrix of n rows.
func (f Format) Bytes(n, k int) int64 {
	return int64(over(n, f.Height())) * int64(f.PanelBytes(k))
}

// Weights is a matrix, or matrices one behind the other, on the device.
type Weights struct {
	At     cuda.Pointer
	Format Format
}
