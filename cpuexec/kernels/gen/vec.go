package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is a vector width. Kernels are written once over it: every lane does the
// same operations in the same order whatever the width, so that their results
// are equal to the bit.
type isa struct {
	name  string // suffix of the kernels' names
	lanes int    // float32 in a register
	regs  []reg.VecPhysical
}

var (
	avx2 = isa{"AVX2", 8, []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}}
	avx512 = isa{"AVX512", 16, []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}}
)

// v is vector register i. Vector registers are chosen by hand, register blocking
// being the point of these kernels; general ones are left to avo's allocator.
func (s isa) v(i int) reg.VecPhysical { return s.regs[i] }

// bytes is the size of a register.
func (s isa) bytes() int { return 4 * s.lanes }

// zero clears register i.
func (s isa) zero(i int) {
	if s.lanes == 16 {
		VPXORD(s.v(i), s.v(i), s.v(i))
		return
	}
	VXORPS(s.v(i), s.v(i), s.v(i))
}

// fold8 reduces the 8 lanes of register Y(i) with op: lane j with j+4, then j+2,
// then j+1. The result is in lane 0. Register t is clobbered.
func fold8(i, t int, op func(...Op)) {
	y, x, u := avx2.v(i), avx2.v(i).AsX(), avx2.v(t).AsX()
	VEXTRACTF128(Imm(1), y, u)
	op(u, x, x)
	VPSHUFD(Imm(0x4e), x, u)
	op(u, x, x)
	VPSHUFD(Imm(0xb1), x, u)
	op(u, x, x)
}

func mem(b reg.Register, disp int) Mem { return Mem{Base: b, Disp: disp} }

// addq always uses a 32-bit immediate: Imm picks the smallest type that holds
// the value, and ADDQ has no 16-bit form.
func addq(n int, r Op) { ADDQ(I32(int32(n)), r) }

// fn starts a function. Without noescape every array whose address is passed
// would move to the heap.
func fn(name, signature string, doc ...string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(doc...)
}

// end leaves a function that used wide registers.
func end() {
	VZEROUPPER()
	RET()
}

// at is where a parameter or a result lies. Load and Store would move it by instructions
// that are not of AVX, 150 ns a call in between those that are.
func at(c gotypes.Component) Mem {
	basic, err := c.Resolve()
	if err != nil {
		panic(err) // ends the generator
	}
	return basic.Addr
}
