package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// capScores bends scores between scores and soften, for models that want it:
// top*tanh(score), tanh(x) being (e^2x-1)/(e^2x-1+2).
func capScores(s isa) {
	name := "cap" + s.name
	fn(name, "func(states *float32, rows, stateSize int64, top float32)",
		name+" makes top*tanh(score) of the 32 scores of each of rows states. stateSize is in bytes.")
	state, rows, size := Load(Param("states"), GP64()), Load(Param("rows"), GP64()), Load(Param("stateSize"), GP64())
	x, n, t, c, one, top, log, low, high, two := s.v(0), s.v(1), s.v(2), s.v(3), s.v(4), s.v(5), s.v(6), s.v(7), s.v(8), s.v(9)
	VBROADCASTSS(at(Param("top")), top)
	VBROADCASTSS(constant(cOne), one)
	VBROADCASTSS(constant(cTwoLog), log)
	VBROADCASTSS(constant(cCapLow), low)
	VBROADCASTSS(constant(cCapHigh), high)
	VBROADCASTSS(constant(cTwo), two)
	Label(name + "_row")
	for i := range tile / s.lanes {
		at := mem(state, stateP+i*s.bytes())
		VMULPS(at, log, x)
		VMAXPS(x, low, x) // in this order a NaN stays
		VMINPS(x, high, x)
		s.expm2(x, n, t, c, one)
		VADDPS(two, x, t)
		VDIVPS(t, x, x)
		VMULPS(top, x, x)
		VMOVUPS(x, at)
	}
	ADDQ(size, state)
	DECQ(rows)
	JNZ(LabelRef(name + "_row"))
	end()
}
