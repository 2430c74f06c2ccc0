package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const queryTail = 16 // bytes behind a packed query: scale, then three offsets

// Byte offsets in the tail of a packed query.
const (
	tailScale = 0
	tailHigh  = 4
	tailLow   = 8
	tailSum   = 12
)

// The largest integers that a weight and a number of a query become.
const (
	weightTop = 32767
	queryTop  = 127*128 + 63
)

// attentionInt8 is attention over a cache of bytes, of which 4 lie side by side in a lane:
// 4 dimensions of K, 4 positions of V. AVX-512 multiplies them with VPDPBUSD, which takes
// bytes alone, so that queries and weights come in two halves; AVX2 by 16-bit numbers.
func attentionInt8() {
	for _, n := range []int{1, 2, 3} {
		scoresBytes(n)
		weightedBytes(n)
	}
	for _, n := range []int{1, 2} {
		scoresWords(n)
		weightedWords(n)
	}
}

// A tile of K and V is as many lines as a query has dimensions. The kernels here are done
// with one so fast that the lines of the next must be asked for evenly: one for 4
// dimensions of K, what softenFetch takes for n queries, and the rest beside V.
func linesBesideV(dims, n int) int {
	left := dims - dims/4 - dims*n/fetchDims
	return (left + tile/4 - 1) / (tile / 4) // for each group of 4 positions
}

const (
	scoresInt8Type   = "func(q, k, next *byte, kScales, states *float32, kPitch, n, stateSize, dim int64)"
	weightedInt8Type = "func(v *byte, vScales *float32, next *byte, states *float32, n *int32, groups, stateSize, dim int64)"
)

// seenMasks makes masks of the first n positions, of 16 each in K1 and K2.
func seenMasks(n reg.Register) {
	m := GP64()
	MOVQ(I32(-1), m)
	BZHIQ(n, m, m)
	KMOVW(m.As32(), reg.K1)
	SHRQ(Imm(16), m)
	KMOVW(m.As32(), reg.K2)
}

var seenTable *Mem

// seenMask is for AVX2 such a mask in memory, of 8 positions each.
func seenMask(n reg.Register) func(c int) Mem {
	if seenTable == nil {
		m := GLOBL("seen", RODATA|NOPTR)
		for i := range 2 * tile {
			DATA(4*i, U32(uint32(i/tile)-1))
		}
		seenTable = &m
	}
	at, back := GP64(), GP64()
	LEAQ(*seenTable, at)
	MOVQ(n, back)
	NEGQ(back)
	return func(c int) Mem { return Mem{Base: at, Index: back, Scale: 4, Disp: 4*tile + 32*c} }
}

// packedRows is n packed queries, and the same from their tails on.
func packedRows(n int) (queries, tails rows) {
	q, tail, stride := GP64(), GP64(), Load(Param("dim"), GP64())
	Load(Param("q"), q)
	SHLQ(Imm(2), stride)
	LEAQ(Mem{Base: q, Index: stride, Scale: 1}, tail)
	addq(queryTail, stride)
	return rowsFrom(q, stride, n), rowsFrom(tail, stride, n)
}

// and is x and m of any width.
func (s isa) and(m, x, to reg.VecPhysical) {
	if s.lanes == 16 {
		VPANDD(m, x, to)
		return
	}
	VPAND(m, x, to)
}

// Registers of integerWeights, behind the values.
const (
	iMost = 8 + iota
	iT
	iInverse
	iTop
	iZero
	iAbs
)

// weightConstants prepares them.
func weightConstants(s isa) {
	VBROADCASTSS(constant(cWeightTop), s.v(iTop))
	VBROADCASTSS(constant(cAbs), s.v(iAbs))
	s.zero(iZero)
}

// integerWeights makes integers, relative to their largest, of the products in the first
// registers, and writes what one of them is worth to unit.
func integerWeights(s isa, unit Mem) {
	vecs := tile / s.lanes
	most, t, inverse := s.v(iMost), s.v(iT), s.v(iInverse)
	s.and(s.v(iAbs), s.v(0), most)
	for c := 1; c < vecs; c++ {
		s.and(s.v(iAbs), s.v(c), t)
		VPMAXUD(t, most, most)
	}
	if s.lanes == 16 {
		VEXTRACTF64X4(Imm(1), most, avx2.v(iT))
		VPMAXUD(avx2.v(iT), avx2.v(iMost), avx2.v(iMost))
	}
	fold8(iMost, iT, VPMAXUD)
	VMOVSS(constant(cTiny), t.AsX())
	VMAXSS(most.AsX(), t.AsX(), most.AsX()) // in this order a NaN stays
	VMULSS(constant(cWeightUnit), most.AsX(), t.AsX())
	VMOVSS(t.AsX(), unit)
	VDIVSS(most.AsX(), s.v(iTop).AsX(), t.AsX())
	VBROADCASTSS(t.AsX(), inverse)
	for c := range vecs {
		VMULPS(inverse, s.v(c), s.v(c))
		VMAXPS(s.v(iZero), s.v(c), s.v(c)) // a NaN becomes 0
		VMINPS(s.v(iTop), s.v(c), s.v(c))
		VCVTPS2DQ(s.v(c), s.v(c))
	}
}
