package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const tile = 32 // positions that one call of attend adds

// Byte offsets of an attention state; package kernels has them in floats.
const (
	stateMax = 0   // the running maximum
	stateSum = 64  // 16 sums of weights, one per lane
	stateP   = 128 // 32 weights of the tile
	stateOut = 256 // the weighted sum of V
)

// Registers of attend. Scores start at 0.
const (
	rMax  = 8
	rCorr = 9
	rN    = 10 // exp2's scratch
	rT    = 11
	rC    = 12
	rLow  = 13
)

// attend adds a tile of up to 32 positions to the state of one query head. K lies
// dimension by dimension (positions in lanes), V position by position (dimensions
// in lanes), so that neither product sums across lanes.
func attend(s isa) {
	name := "attend" + s.name
	fn(name, "func(q, k, v, state *float32, kPitch, n, dim int64)",
		name+" adds n (1 to 32) positions to an attention state. kPitch is in bytes,",
		"dim is a multiple of 16.")
	scores(s, name)
	maskTail(s)
	softmax(s)
	weighted(s, name)
	end()
}

// scores leaves q*k of the tile in registers 0 and up.
func scores(s isa, name string) {
	q := Load(Param("q"), GP64())
	k := Load(Param("k"), GP64())
	pitch := Load(Param("kPitch"), GP64())
	d := Load(Param("dim"), GP64())
	for c := range tile / s.lanes {
		s.zero(c)
	}
	Label(name + "_dim")
	VBROADCASTSS(mem(q, 0), s.v(rT))
	for c := range tile / s.lanes {
		VFMADD231PS(mem(k, c*s.bytes()), s.v(rT), s.v(c))
	}
	addq(4, q)
	ADDQ(pitch, k)
	DECQ(d)
	JNZ(LabelRef(name + "_dim"))
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

// maskTail makes the scores of positions n and up -Inf. What was loaded there is
// anything, NaN too: the minimum of a NaN and the table is the table's value.
func maskTail(s isa) {
	at, n := GP64(), Load(Param("n"), GP64())
	LEAQ(tail(), at)
	NEGQ(n)
	for c := range tile / s.lanes {
		VMINPS(Mem{Base: at, Index: n, Scale: 4, Disp: 4*tile + c*s.bytes()}, s.v(c), s.v(c))
	}
}

// softmax turns scores into weights relative to the new maximum, and scales what
// the state summed before.
func softmax(s isa) {
	state := Load(Param("state"), GP64())
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
	VBROADCASTSS(constant(cSoftLow), s.v(rLow))
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

// weighted adds the tile's weighted V to the state, in chunks of up to 8
// registers of dimensions.
func weighted(s isa, name string) {
	state := Load(Param("state"), GP64())
	v := Load(Param("v"), GP64())
	left := Load(Param("dim"), GP64())
	pitch := GP64()
	LEAQ(Mem{Base: left, Index: left, Scale: 1}, pitch)
	ADDQ(pitch, pitch)
	out := GP64()
	LEAQ(mem(state, stateOut), out)
	for vecs := 8; vecs > 0; vecs /= 2 {
		chunk := fmt.Sprintf("%s_chunk%d", name, vecs)
		Label(chunk)
		CMPQ(left, I32(int32(vecs*s.lanes)))
		JLT(LabelRef(chunk + "_end"))
		weightedChunk(s, chunk, vecs, state, v, out, pitch)
		addq(vecs*s.bytes(), out)
		addq(vecs*s.bytes(), v)
		SUBQ(I32(int32(vecs*s.lanes)), left)
		JMP(LabelRef(chunk))
		Label(chunk + "_end")
	}
}

func weightedChunk(s isa, chunk string, vecs int, state, v, out, pitch reg.Register) {
	for c := range vecs {
		VMULPS(mem(out, c*s.bytes()), s.v(rCorr), s.v(c))
	}
	p, row, n := GP64(), GP64(), Load(Param("n"), GP64())
	MOVQ(state, p)
	MOVQ(v, row)
	Label(chunk + "_position")
	VBROADCASTSS(mem(p, stateP), s.v(rT))
	for c := range vecs {
		VFMADD231PS(mem(row, c*s.bytes()), s.v(rT), s.v(c))
	}
	addq(4, p)
	ADDQ(pitch, row)
	DECQ(n)
	JNZ(LabelRef(chunk + "_position"))
	for c := range vecs {
		VMOVUPS(s.v(c), mem(out, c*s.bytes()))
	}
}
