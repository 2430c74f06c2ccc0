package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// capTile bends scores between scores and soften, and logits, for models that want it:
// top*tanh(x/2*ln(2)*factor), tanh(x) being (e^2x-1)/(e^2x-1+2).
func capTile(s isa) {
	name := "capTile" + s.name
	fn(name, "func(x *float32, rows, stride int64, factor, top float32)",
		name+" makes top*m/(m+2), m = 2^(factor*x)-1, of 32 numbers in each of rows.",
		"stride is in bytes.")
	row, rows, stride := Load(Param("x"), GP64()), Load(Param("rows"), GP64()), Load(Param("stride"), GP64())
	x, n, t, c, one, top, factor, low, high, two := s.v(0), s.v(1), s.v(2), s.v(3), s.v(4), s.v(5), s.v(6), s.v(7), s.v(8), s.v(9)
	VBROADCASTSS(at(Param("top")), top)
	VBROADCASTSS(at(Param("factor")), factor)
	VBROADCASTSS(constant(cOne), one)
	VBROADCASTSS(constant(cCapLow), low)
	VBROADCASTSS(constant(cCapHigh), high)
	VBROADCASTSS(constant(cTwo), two)
	Label(name + "_row")
	for i := range tile / s.lanes {
		at := mem(row, i*s.bytes())
		VMULPS(at, factor, x)
		VMAXPS(x, low, x) // in this order a NaN stays
		VMINPS(x, high, x)
		s.expm2(x, n, t, c, one)
		VADDPS(two, x, t)
		VDIVPS(t, x, x)
		VMULPS(top, x, x)
		VMOVUPS(x, at)
	}
	ADDQ(stride, row)
	DECQ(rows)
	JNZ(LabelRef(name + "_row"))
	end()
}
