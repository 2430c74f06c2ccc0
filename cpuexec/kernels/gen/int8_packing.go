package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packing is how a panel stores 32 k, as format.go of package kernels describes it. Integers
// of less than 8 bits are unsigned and lie as nibbles, with the bits above behind them.
type packing struct {
	name  string
	bits  int
	block int // bytes
	head  int // bytes before each 8 blocks: what their scales are multiplied with; 0: none
	d, m  int // places of scales in a block, and of what there is beside; m 0: none
}

var packings = []packing{
	{name: "Q8", bits: 8, block: 1088, d: 1024},
	{name: "Q4", bits: 4, block: 640, d: 512, m: 576},
	{name: "Q40", bits: 4, block: 576, d: 512},
	{name: "Q4K", bits: 4, block: 576, head: 128, d: 512, m: 544},
	{name: "Q5K", bits: 5, block: 704, head: 128, d: 640, m: 672},
	{name: "Q6K", bits: 6, block: 832, head: 64, d: 768, m: 800},
}

// size is a block with its share of what stands before.
func (p packing) size() int { return p.block + p.head/8 }

// minima tells that there is something to be added for each block: what is stored, or of
// Q40 the scale times -8.
func (p packing) minima() bool { return p.bits == 4 || p.bits == 5 }

// parts is in how many parts a block has scales of their own.
func (p packing) parts() int {
	if p.bits == 6 {
		return 2
	}
	return 1
}

// vectors are those of 4 vectors of nibbles whose numbers are in a part.
func (p packing) vectors(part int) []int {
	if p.parts() == 2 {
		return []int{2 * part, 2*part + 1}
	}
	return []int{0, 1, 2, 3}
}

// group is which 4 of 32 k the low or the high nibbles of a vector are.
func (p packing) group(vector, nibble int) int {
	if p.parts() == 2 {
		return 2*vector + nibble
	}
	return vector + 4*nibble
}

// groups is how many of them a part has.
func (p packing) groups() int { return 8 / p.parts() }

// high says where the bits above those of a group lie, for 16 columns, and how far they
// are to be shifted to the right.
func (p packing) high(half, group int) (place, shift int) {
	if p.bits == 5 {
		return 512 + 64*half, group - 4
	}
	return 512 + 128*half + group/4*64, group%4*2 - 4
}

// Masks of the bits above nibbles.
var (
	fifthBits = &lanes16{name: "fifthBits", words: [2]uint64{0x1010101010101010, 0x1010101010101010}}
	sixthBits = &lanes16{name: "sixthBits", words: [2]uint64{0x3030303030303030, 0x3030303030303030}}
)

func (p packing) highMask() Mem {
	if p.bits == 5 {
		return constants32(fifthBits)
	}
	return constants32(sixthBits)
}

// start is where the integer sum of a part begins: at magic, so that it is a float as it
// is, less what integers are too large by; ok is false where that is magic itself.
func (p packing) start(part int) (place int, ok bool) {
	switch p.bits {
	case 8:
		return xOffset, true
	case 6:
		return xHalves + 4*part, true
	}
	return 0, false
}

// heads are registers with what the scales of 16 columns are multiplied with.
type heads struct{ d, m reg.VecPhysical }
