package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Places in a block of a packed row, as format.go of package kernels has them.
const (
	xBlock  = 56
	xScale  = 32
	xSums   = 36
	xOffset = 40
	xBias   = 44
	xHalves = 48
)

// magic is the bits of 1.5*2^23: an integer of less than 2^22 either way, added to them,
// is the bits of that float plus the integer.
const magic = 0x4b400000

// A call of a product by AVX-512 of less than 8 bits takes up to so many blocks, which are
// unpacked in the frame.
const (
	unpackedBlocks = 12
	unpackedBlock  = 1024 + 2*4*panel // bytes, then scales and minima in float32
)

// integerProducts is all kernels of 8-bit activations.
func integerProducts() {
	for _, p := range packings {
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

// prefetchAhead fetches so many bytes that lie so far ahead, often in the panel that follows.
func prefetchAhead(w reg.Register, ahead, bytes int) {
	for at := 0; at < bytes; at += 64 {
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
