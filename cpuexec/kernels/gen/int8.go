package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Places in a block of a packed row, as format.go of package kernels has them.
const (
	xBlock  = 48
	xScale  = 32
	xSums   = 36
	xOffset = 40
	xBias   = 44
)

// magic is the bits of 1.5*2^23: an integer of less than 2^22 either way, added to them,
// is the bits of that float plus the integer.
const magic = 0x4b400000

// A call of a product takes up to so many blocks, so that they stay in the first level
// cache while rows pass, 4-bit ones unpacked in the frame.
const (
	blocksPerCall = 12
	unpackedBlock = 1024 + 2*4*panel // bytes, then scales and minima in float32
)

// packing is how a panel stores 32 k: 8 bits or 4.
type packing struct {
	name  string
	bits  int
	block int // bytes
	d, m  int // places of scales and minima in a block
	step  int // what lies between blocks as rows meet them
}

var (
	q8 = packing{name: "Q8", bits: 8, block: 1088, d: 1024, step: 1088}
	q4 = packing{name: "Q4", bits: 4, block: 640, d: 512, m: 576, step: unpackedBlock}
)

// integerProducts is all kernels of 8-bit activations.
func integerProducts() {
	for _, p := range []packing{q8, q4} {
		gemmPacked512(p)
		rowPacked512(p)
		gemmPacked2(p)
	}
	gemmC8512()
	rowC8512()
	gemmC82()
	quantise()
	quantiseC8()
}

// prefetch fetches a block that lies so far ahead, often in the panel that follows.
func (p packing) prefetch(w reg.Register, ahead int) {
	for at := 0; at < p.block; at += 64 {
		PREFETCHT0(mem(w, ahead+at))
	}
}

// broadcast fills a register's lanes.
func broadcast(v uint32, to reg.VecPhysical) {
	r := GP32()
	MOVL(U32(v), r)
	VPBROADCASTD(r, to)
}

// stridedRows points at up to 6 rows.
type stridedRows struct{ first, fourth, stride reg.Register }

// at is a place in row r.
func (p stridedRows) at(r, place int) Mem {
	m := mem(p.first, place)
	if r >= 3 {
		m = mem(p.fourth, place)
	}
	if r%3 > 0 {
		m.Index, m.Scale = p.stride, uint8(r%3)
	}
	return m
}

// begin puts the fourth row's pointer where it belongs.
func (p stridedRows) begin() {
	LEAQ(Mem{Base: p.first, Index: p.stride, Scale: 2}, p.fourth)
	ADDQ(p.stride, p.fourth)
}

// next goes so many bytes ahead in all rows.
func (p stridedRows) next(n int) {
	addq(n, p.first)
	addq(n, p.fourth)
}

// frame is so many bytes of the function's frame, from a cache line's beginning on.
func frame(bytes int) reg.Register {
	room, first := AllocLocal(bytes+64), GP64()
	LEAQ(room.Offset(63), first)
	ANDQ(I32(-64), first)
	return first
}
