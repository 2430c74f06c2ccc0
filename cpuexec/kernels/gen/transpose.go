package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose turns 8 rows into 8 columns of a panel, 8 values of each at a time. Half
// a register is of one of the first four rows, the other half of the row four below, so
// that all that is left to do stays within halves.
func transpose() {
	fn("transpose", "func(x, w *float32, n8, xStride int64)",
		"transpose writes n8*8 values of 8 rows of x into 8 columns of a panel. xStride is",
		"in bytes.")
	x := rowsOf("x", 8)
	w := Load(Param("w"), GP64())
	n := Load(Param("n8"), GP64())
	Label("transpose_l")
	for half := range 2 {
		for i := range 4 {
			VMOVUPS(x.at(i, 16*half), avx2.v(i).AsX())
			VINSERTF128(Imm(1), x.at(i+4, 16*half), avx2.v(i), avx2.v(i))
		}
		transpose4(w, 4*half)
	}
	x.advance(32)
	addq(8*4*panel, w)
	DECQ(n)
	JNZ(LabelRef("transpose_l"))
	end()
}

// transpose4 writes lines of w, from one on, that are the columns of the first four
// registers' halves.
func transpose4(w reg.Register, line int) {
	a, b, c, d := avx2.v(0), avx2.v(1), avx2.v(2), avx2.v(3)
	for i, unpack := range []func(...Op){VUNPCKLPS, VUNPCKHPS} {
		ab, cd := avx2.v(4+2*i), avx2.v(5+2*i)
		unpack(b, a, ab)
		unpack(d, c, cd)
		VUNPCKLPD(cd, ab, avx2.v(8+2*i))
		VUNPCKHPD(cd, ab, avx2.v(9+2*i))
	}
	for i := range 4 {
		VMOVUPS(avx2.v(8+i), mem(w, 4*panel*(line+i)))
	}
}
