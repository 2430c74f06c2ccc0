package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// firstAbove goes over a row of logits, 32 at a time.
func firstAbove(s isa) {
	name := "firstAbove" + s.name
	fn(name, "func(x *float32, n32 int64, bound float32) int64",
		name+" is the number of the first of n32*32 values that is not at most bound, or",
		"n32*32.")
	x, left := Load(Param("x"), GP64()), Load(Param("n32"), GP64())
	Load(Param("bound"), reg.X0)
	VBROADCASTSS(reg.X0, s.v(0))
	at, mask := GP64(), GP32()
	XORQ(at, at)
	Label(name + "_l")
	s.anyAbove(x)
	JNZ(LabelRef(name + "_found"))
	addq(4*panel, x)
	addq(panel, at)
	DECQ(left)
	JNZ(LabelRef(name + "_l"))
	Store(at, ReturnIndex(0))
	end()
	Label(name + "_found")
	s.maskAbove(x, mask)
	BSFL(mask, mask)
	ADDQ(mask.As64(), at)
	Store(at, ReturnIndex(0))
	end()
}

// maskAbove sets the bits of those of 32 numbers that are not at most register 0's.
func (s isa) maskAbove(x reg.Register, mask reg.GPVirtual) {
	part := GP32()
	for c := range panel / s.lanes {
		into := part
		if c == 0 {
			into = mask
		}
		if s.lanes == 16 {
			VCMPPS(Imm(notAtLeast), mem(x, c*s.bytes()), s.v(0), reg.K1)
			KMOVW(reg.K1, into)
		} else {
			VCMPPS(Imm(notAtLeast), mem(x, c*s.bytes()), s.v(0), s.v(1))
			VMOVMSKPS(s.v(1), into)
		}
		if c > 0 {
			SHLL(Imm(uint64(c*s.lanes)), part)
			ORL(part, mask)
		}
	}
}
