package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// notAtLeast is a comparison: true of a NaN on either side.
const notAtLeast = 9

// above looks for what Best has to look at: as most numbers are no maxima, that is rare
// behind the first panels.
func above(s isa) {
	name := "above" + s.name
	fn(name, "func(x, most *float32, rows, xStride int64) int64",
		name+" is the first row of x that has among its 32 columns one that is not at most",
		"the row's most, or rows. xStride is in bytes.")
	x, most := Load(Param("x"), GP64()), Load(Param("most"), GP64())
	rows, stride := Load(Param("rows"), GP64()), Load(Param("xStride"), GP64())
	row := GP64()
	XORQ(row, row)
	Label(name + "_row")
	VBROADCASTSS(Mem{Base: most, Index: row, Scale: 4}, s.v(0))
	s.anyAbove(x)
	JNZ(LabelRef(name + "_found"))
	ADDQ(stride, x)
	INCQ(row)
	CMPQ(row, rows)
	JLT(LabelRef(name + "_row"))
	Label(name + "_found")
	Store(row, ReturnIndex(0))
	end()
}

// anyAbove clears the zero flag if one of 32 numbers is not at most register 0's.
func (s isa) anyAbove(x reg.Register) {
	if s.lanes == 16 {
		VCMPPS(Imm(notAtLeast), mem(x, 0), s.v(0), reg.K1)
		VCMPPS(Imm(notAtLeast), mem(x, 64), s.v(0), reg.K2)
		KORTESTW(reg.K1, reg.K2)
		return
	}
	for c := range panel / s.lanes {
		VCMPPS(Imm(notAtLeast), mem(x, 32*c), s.v(0), s.v(1+c))
	}
	VORPS(s.v(2), s.v(1), s.v(1))
	VORPS(s.v(4), s.v(3), s.v(3))
	VORPS(s.v(3), s.v(1), s.v(1))
	VPTEST(s.v(1), s.v(1))
}
