package main

import (
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Registers of soften. Scores start at 0.
const (
	rMax  = 8
	rCorr = 9
	rN    = 10 // exp2's scratch
	rT    = 11
	rC    = 12
	rLow  = 13
)

// fetchDims is for how many dimensions of a query softenFetch fetches a line.
const fetchDims = 8

// soften turns the scores of a tile into weights relative to the new maximum, and scales
// what the states have summed before, query by query.
func soften(s isa, fetch bool) {
	name, typ := "soften"+s.name, "func(states *float32, n *int32, rows, stateSize, dim int64)"
	doc := []string{name + " makes weights of the scores of queries, of which each sees its n (1 to 32)",
		"positions, and scales its state. stateSize is in bytes, dim a multiple of 16."}
	var next reg.Register
	if fetch {
		name, typ = "softenFetch"+s.name, strings.Replace(typ, "rows", "next *byte, rows", 1)
		doc = []string{name + " is soften" + s.name + ", and fetches a line of next for 8 dimensions of a query."}
	}
	fn(name, typ, doc...)
	if fetch {
		next = Load(Param("next"), GP64())
	}
	state, n := Load(Param("states"), GP64()), Load(Param("n"), GP64())
	left, size := Load(Param("rows"), GP64()), Load(Param("stateSize"), GP64())
	VBROADCASTSS(constant(cSoftLow), s.v(rLow))
	Label(name + "_row")
	for c := range tile / s.lanes {
		VMOVUPS(mem(state, stateP+c*s.bytes()), s.v(c))
	}
	maskTail(s, n)
	softmax(s, state)
	scaleOut(s, state, next, name)
	addq(4, n)
	ADDQ(size, state)
	DECQ(left)
	JNZ(LabelRef(name + "_row"))
	end()
}

var tailTable *Mem

// tail is 32 times +Inf, then 32 times -Inf.
func tail() Mem {
	if tailTable == nil {
		m := GLOBL("tail", RODATA|NOPTR)
		for i := range 2 * tile {
			DATA(4*i, U32(math.Float32bits(float32(math.Inf(1-2*(i/tile))))))
		}
		tailTable = &m
	}
	return *tailTable
}

// maskTail makes the scores of positions *p and up -Inf. What was loaded there is
// anything, NaN too: the minimum of a NaN and the table is the table's value.
func maskTail(s isa, p reg.Register) {
	at, n := GP64(), GP64()
	LEAQ(tail(), at)
	MOVLQSX(mem(p, 0), n)
	NEGQ(n)
	for c := range tile / s.lanes {
		VMINPS(Mem{Base: at, Index: n, Scale: 4, Disp: 4*tile + c*s.bytes()}, s.v(c), s.v(c))
	}
}

// softmax turns the scores of a state into weights, which it adds to their sums.
func softmax(s isa, state reg.Register) {
	old, top := s.v(rCorr), s.v(rMax)
	vecs := tile / s.lanes
	VMAXPS(s.v(1), s.v(0), top)
	for c := 2; c < vecs; c++ {
		VMAXPS(s.v(c), top, top)
	}
	if s.lanes == 16 {
		VEXTRACTF64X4(Imm(1), top, avx2.v(rT))
		VMAXPS(avx2.v(rT), avx2.v(rMax), avx2.v(rMax))
	}
	fold8(rMax, rT, VMAXPS)
	VMOVSS(mem(state, stateMax), old.AsX())
	VMAXPS(old.AsX(), top.AsX(), top.AsX())
	VMOVSS(top.AsX(), mem(state, stateMax))
	VBROADCASTSS(top.AsX(), top)
	VBROADCASTSS(old.AsX(), old)
	weigh := func(x reg.VecPhysical) {
		VSUBPS(top, x, x)
		VMAXPS(x, s.v(rLow), x) // in this order a NaN stays
		s.exp2(x, s.v(rN), s.v(rT), s.v(rC))
	}
	weigh(old)
	for c := range vecs {
		weigh(s.v(c))
		VMOVUPS(s.v(c), mem(state, stateP+c*s.bytes()))
	}
	for c := range vecs / 2 {
		VMOVUPS(mem(state, stateSum+c*s.bytes()), s.v(rT))
		VFMADD213PS(s.v(c), old, s.v(rT))
		VADDPS(s.v(c+vecs/2), s.v(rT), s.v(rT))
		VMOVUPS(s.v(rT), mem(state, stateSum+c*s.bytes()))
	}
}

// scaleOut scales the weighted sum of V for the new maximum.
func scaleOut(s isa, state, next reg.Register, name string) {
	out, d := GP64(), Load(Param("dim"), GP64())
	MOVQ(state, out)
	Label(name + "_out")
	if next != nil {
		prefetch(next, 16/fetchDims)
	}
	for c := range 16 / s.lanes {
		m := mem(out, stateOut+c*s.bytes())
		VMULPS(m, s.v(rCorr), s.v(rT))
		VMOVUPS(s.v(rT), m)
	}
	addq(64, out)
	SUBQ(Imm(16), d)
	JNZ(LabelRef(name + "_out"))
}
