package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Of a block of 32 k of a panel in MXFP4: 4 groups of 8 k, in 32 columns of 4 bytes, then
// their scales in bf16.
const (
	mxGroup  = 4 * panel
	mxScales = 4 * mxGroup
	mxBlock  = mxScales + 2*panel
)

// mxRows is up to how many rows there is a kernel for each number of: as gemmRows, less what
// tables and scales take.
func (s isa) mxRows() int {
	if s.lanes == 16 {
		return 11
	}
	return 2
}

// Registers behind sums, weights and activations, the last ones.
const (
	mxTable  = 31 // of AVX-512
	mxScale  = 29 // 2
	mxLow    = 15 // of AVX2: what numbers without and with a sign are
	mxHigh   = 14
	mxSign   = 13
	mxLookup = 12
)

// gemmMXFP4 is gemm for weights in MXFP4. A number is looked up by its 4 bits in a register,
// times its scale, both exact, and then is float32's.
func gemmMXFP4(s isa, rows int) {
	name := fmt.Sprintf("gemmMXFP4x%d%s", rows, s.name)
	fn(name, "func(w *byte, x, out *float32, blocks, xStride, outStride int64)",
		fmt.Sprintf("%s multiplies %d rows of x with a panel of 32 columns in MXFP4, of so", name, rows),
		"many blocks of 32 k. Strides are in bytes.")
	w := Load(Param("w"), GP64())
	x := rowsOf("x", rows)
	blocks := Load(Param("blocks"), GP64())
	scales := s.loadE2M1()
	s.zeroSums(rows)
	groups := GP64()
	Label(name + "_block")
	s.loadScales(w, scales)
	MOVQ(U32(4), groups)
	Label(name + "_group")
	prefetchPanel(w)
	for j := range 8 {
		s.addLine(rows, x, 4*j, func(c int, into reg.VecPhysical) { s.lookUp(mem(w, c*s.bytes()), j, c, scales, into) })
	}
	addq(mxGroup, w)
	x.advance(4 * 8)
	DECQ(groups)
	JNZ(LabelRef(name + "_group"))
	addq(mxBlock-mxScales, w)
	DECQ(blocks)
	JNZ(LabelRef(name + "_block"))
	s.storeSums(rows)
	end()
}

// loadE2M1 fills the registers that numbers are looked up in. It answers where scales are put
// that find no registers.
func (s isa) loadE2M1() (scales Mem) {
	if s.lanes == 16 {
		VMOVUPS(doubledE2M1(), s.v(mxTable))
		return scales
	}
	VMOVUPS(doubledE2M1(), s.v(mxLow))
	VMOVUPS(doubledE2M1().Offset(32), s.v(mxHigh))
	return AllocLocal(4 * panel)
}

// loadScales widens those of a block.
func (s isa) loadScales(w reg.Register, scales Mem) {
	for c := range panel / s.lanes {
		d := s.v(mxSign)
		if s.lanes == 16 {
			d = s.v(mxScale + c)
		}
		VPMOVZXWD(mem(w, mxScales+c*s.bytes()/2), d)
		VPSLLD(Imm(16), d, d)
		if s.lanes == 8 {
			VMOVUPS(d, scales.Offset(c*s.bytes()))
		}
	}
}

// lookUp makes number j of 8 of a register of columns, register c of them.
func (s isa) lookUp(from Mem, j, c int, scales Mem, into reg.VecPhysical) {
	if s.lanes == 16 {
		if j == 0 {
			VMOVDQU32(from, into)
		} else {
			VPSRLD(Imm(uint64(4*j)), from, into)
		}
		VPERMPS(s.v(mxTable), into, into)
		VMULPS(s.v(mxScale+c), into, into)
		return
	}
	sign, negative := s.v(mxSign), s.v(mxLookup)
	VMOVDQU(from, into)
	VPSLLD(Imm(uint64(28-4*j)), into, sign)
	if j > 0 {
		VPSRLD(Imm(uint64(4*j)), into, into)
	}
	VPERMPS(s.v(mxHigh), into, negative)
	VPERMPS(s.v(mxLow), into, into)
	VBLENDVPS(sign, negative, into, into)
	VMULPS(scales.Offset(c*s.bytes()), into, into)
}

var e2m1Table *Mem

// doubledE2M1 is twice the 16 numbers of E2M1.
func doubledE2M1() Mem {
	if e2m1Table == nil {
		m := GLOBL("doubledE2M1", RODATA|NOPTR)
		for i, x := range []float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12} {
			DATA(4*i, U32(math.Float32bits(x)))
		}
		e2m1Table = &m
	}
	return *e2m1Table
}
