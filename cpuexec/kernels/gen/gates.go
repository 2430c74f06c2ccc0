package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Registers of gates.
const (
	gGate = iota
	gX    // in the end the result
	gN    // of exp2
	gT
	gC
	gLow
	gHigh
	gOne
	gOwn // and those behind it: a gate's own
)

// gate is a gate of the feed-forward part: gate/(1+2^x)*up, with an x of its own.
type gate struct {
	name     string
	formula  string
	params   string              // behind those of all
	begin    func(s isa)         // fills registers that stay
	exponent func(s isa)         // makes x
	times    func(s isa, up Mem) // multiplies with up, or what becomes of it
}

var gates = []gate{
	{"siluTile", "silu(gate)*up", "", func(s isa) {
		VBROADCASTSS(constant(cNegLog2e), s.v(gOwn))
	}, func(s isa) {
		VMULPS(s.v(gOwn), s.v(gGate), s.v(gX))
	}, timesUp},
	{"geluTile", "gelu(gate)*up", "", func(s isa) {
		VBROADCASTSS(constant(cGELUCubic), s.v(gOwn))
		VBROADCASTSS(constant(cGELU), s.v(gOwn+1))
	}, func(s isa) {
		x := s.v(gX)
		VMULPS(s.v(gGate), s.v(gGate), x)
		VMULPS(s.v(gGate), x, x)
		VMULPS(s.v(gOwn), x, x)
		VADDPS(s.v(gGate), x, x)
		VMULPS(s.v(gOwn+1), x, x)
	}, timesUp},
	{"clampedTile", "gate/(1+2^(factor*gate))*(up+1), of clamped gates and ups,", ", factor, limit float32", func(s isa) {
		factor, limit, low := s.v(gOwn), s.v(gOwn+1), s.v(gOwn+2)
		VBROADCASTSS(at(Param("factor")), factor)
		VBROADCASTSS(at(Param("limit")), limit)
		s.zero(gOwn + 2)
		VSUBPS(limit, low, low)
	}, func(s isa) {
		VMINPS(s.v(gGate), s.v(gOwn+1), s.v(gGate)) // in this order a NaN stays
		VMULPS(s.v(gOwn), s.v(gGate), s.v(gX))
	}, func(s isa, up Mem) {
		t := s.v(gT)
		VMOVUPS(up, t)
		VMAXPS(t, s.v(gOwn+2), t)
		VMINPS(t, s.v(gOwn+1), t)
		VADDPS(s.v(gOne), t, t)
		VMULPS(t, s.v(gX), s.v(gX))
	}},
}

func timesUp(s isa, up Mem) { VMULPS(up, s.v(gX), s.v(gX)) }

// tile writes the gate's kernel.
func (g gate) tile(s isa) {
	name := g.name + s.name
	fn(name, "func(src, dst *float32, rows, dstStride int64"+g.params+")",
		name+" writes "+g.formula+" 32 columns a row. src has 32",
		"gates and 32 ups a row; dstStride is in bytes.")
	src, dst := Load(Param("src"), GP64()), Load(Param("dst"), GP64())
	rows, stride := Load(Param("rows"), GP64()), Load(Param("dstStride"), GP64())
	x, one := s.v(gX), s.v(gOne)
	VBROADCASTSS(constant(cSiluLow), s.v(gLow))
	VBROADCASTSS(constant(cSiluHigh), s.v(gHigh))
	VBROADCASTSS(constant(cOne), one)
	g.begin(s)
	Label(name + "_row")
	for i := range panel / s.lanes {
		VMOVUPS(mem(src, i*s.bytes()), s.v(gGate))
		g.exponent(s)
		VMAXPS(x, s.v(gLow), x) // in this order a NaN stays
		VMINPS(x, s.v(gHigh), x)
		s.exp2(x, s.v(gN), s.v(gT), s.v(gC))
		VADDPS(one, x, x)
		VDIVPS(x, s.v(gGate), x)
		g.times(s, mem(src, 4*panel+i*s.bytes()))
		VMOVUPS(x, mem(dst, i*s.bytes()))
	}
	addq(8*panel, src)
	ADDQ(stride, dst)
	DECQ(rows)
	JNZ(LabelRef(name + "_row"))
	end()
}
