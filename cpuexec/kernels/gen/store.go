package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What a step writes to the cache, and the queries that read it. These take a small share
// of a step: one form, for AVX2, serves AVX-512 as well. Heads are multiples of 16.

// Registers of integers16.
const (
	qA = iota // 16 numbers
	qB
	qInverse
	qLow
	qHigh
)

// inverseOf finds the largest |x| of n numbers. It leaves top over it in lanes of
// qInverse, and in a register what one step of the integers is worth; see byteScale.
func inverseOf(name string, x reg.Register, top, unit int) (scale reg.VecPhysical) {
	s := avx2
	const most = 5
	t, abs := s.v(qB), s.v(qLow)
	VBROADCASTSS(constant(cAbs), abs)
	VBROADCASTSS(constant(cTiny), s.v(most))
	at, left := GP64(), Load(Param("dim"), GP64())
	MOVQ(x, at)
	Label(name + "_most")
	VPAND(mem(at, 0), abs, t)
	VPMAXUD(t, s.v(most), s.v(most))
	addq(32, at)
	SUBQ(Imm(8), left)
	JNZ(LabelRef(name + "_most"))
	VBROADCASTSS(constant(top), s.v(qHigh))
	scales(most, qB, qHigh, qInverse, constant(unit))
	s.zero(qLow)
	VSUBPS(s.v(qHigh), s.v(qLow), s.v(qLow))
	return s.v(most)
}

// integers16 makes integers from -top to top of 16 numbers, a NaN the lowest.
func integers16(x reg.Register) {
	for i := range 2 {
		v := avx2.v(qA + i)
		VMULPS(mem(x, 32*i), avx2.v(qInverse), v)
		VMAXPS(avx2.v(qLow), v, v)
		VMINPS(avx2.v(qHigh), v, v)
		VCVTPS2DQ(v, v)
	}
}

// bytes16 packs 16 integers as bytes, in the low half of a.
func bytes16(a, b, t reg.VecPhysical) {
	VPACKSSDW(b, a, a)
	VPERMQ(Imm(0xd8), a, a)
	VEXTRACTI128(Imm(1), a, t.AsX())
	VPACKSSWB(t.AsX(), a.AsX(), a.AsX())
}

// quantiseQuery packs a query for attention over bytes.
func quantiseQuery() {
	const name = "quantiseQuery"
	fn(name, "func(q *float32, dst *byte, dim int64)", name+" packs a query of dim elements, a multiple of 16.")
	s := avx2
	x, high, left := Load(Param("q"), GP64()), Load(Param("dst"), GP64()), Load(Param("dim"), GP64())
	scale := inverseOf(name, x, cQueryTop, cQueryUnit)
	low, words, tail := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: high, Index: left, Scale: 1}, low)
	LEAQ(Mem{Base: high, Index: left, Scale: 2}, words)
	LEAQ(Mem{Base: high, Index: left, Scale: 4}, tail)
	VMOVSS(scale.AsX(), mem(tail, tailScale))
	const sums, half, tops, bottoms, t = 6, 8, 9, 11, 13
	s.zero(sums)
	s.zero(sums + 1)
	VPBROADCASTD(constant(cHalfByte), s.v(half))
	Label(name + "_next")
	integers16(x)
	for i := range 2 {
		h, l := s.v(tops+i), s.v(bottoms+i)
		VPADDD(s.v(half), s.v(qA+i), h)
		VPSRAD(Imm(7), h, h)
		VPSLLD(Imm(7), h, l)
		VPSUBD(l, s.v(qA+i), l)
		VPADDD(h, s.v(sums), s.v(sums))
		VPADDD(l, s.v(sums+1), s.v(sums+1))
	}
	bytes16(s.v(tops), s.v(tops+1), s.v(t))
	VMOVUPS(s.v(tops).AsX(), mem(high, 0))
	bytes16(s.v(bottoms), s.v(bottoms+1), s.v(t))
	VMOVUPS(s.v(bottoms).AsX(), mem(low, 0))
	evenOdd(s.v(qA), s.v(qB))
	VMOVUPS(s.v(qA), mem(words, 0))
	addq(64, x)
	addq(16, high)
	addq(16, low)
	addq(32, words)
	SUBQ(Imm(16), left)
	JNZ(LabelRef(name + "_next"))
	s.zero(half)
	for i, at := range []int{tailHigh, tailLow} {
		sum := s.v(sums + i).AsX()
		fold8(sums+i, t, VPADDD)
		VPSLLD(Imm(7), sum, sum)
		VPSUBD(sum, s.v(half).AsX(), sum)
		VMOVD(sum, mem(tail, at))
	}
	VPSLLD(Imm(7), s.v(sums).AsX(), s.v(sums).AsX())
	VPADDD(s.v(sums+1).AsX(), s.v(sums).AsX(), s.v(sums).AsX())
	VMOVD(s.v(sums).AsX(), mem(tail, tailSum))
	end()
}

// storeInt8 writes K or V of a position as bytes, and answers their scale.
func storeInt8() {
	for _, key := range []bool{true, false} {
		name, doc := "storeValueInt8", "a byte in each 4, so that 4 positions lie side by side."
		if key {
			name, doc = "storeKeyInt8", "4 dimensions of K side by side, then those of other positions."
		}
		fn(name, "func(x *float32, page *byte, pitch, dim int64) float32", name+" writes dim numbers, a multiple of 16:",
			doc, "pitch is that of 4 of them in bytes.")
		x, page, left := Load(Param("x"), GP64()), Load(Param("page"), GP64()), Load(Param("dim"), GP64())
		scale := inverseOf(name, x, cByteTop, cByteUnit)
		VMOVSS(scale.AsX(), at(ReturnIndex(0)))
		pitch, packed := Load(Param("pitch"), GP64()), avx2.v(qA).AsX()
		Label(name + "_next")
		integers16(x)
		bytes16(avx2.v(qA), avx2.v(qB), avx2.v(5))
		if key {
			VPXOR(constants32(signs), packed, packed)
		}
		for i := range 4 {
			if key {
				VPEXTRD(Imm(uint64(i)), packed, mem(page, 0))
			} else {
				for j := range 4 {
					VPEXTRB(Imm(uint64(4*i+j)), packed, mem(page, 4*j))
				}
			}
			ADDQ(pitch, page)
		}
		addq(64, x)
		SUBQ(Imm(16), left)
		JNZ(LabelRef(name + "_next"))
		end()
	}
}

// storeBF16 writes K and V of a position, rounded to the nearest.
func storeBF16() {
	const name = "storeBF16"
	fn(name, "func(k, v *float32, kPage, vPage *uint16, kPitch, dim int64)",
		name+" writes dim numbers of K and V, a multiple of 16. kPitch is in bytes.")
	k, v := Load(Param("k"), GP64()), Load(Param("v"), GP64())
	kPage, vPage := Load(Param("kPage"), GP64()), Load(Param("vPage"), GP64())
	pitch, left := Load(Param("kPitch"), GP64()), Load(Param("dim"), GP64())
	packed := avx2.v(0)
	for i, c := range []int{cOneInteger, cRound, cQuiet} {
		VPBROADCASTD(constant(c), avx2.v(nOne+i))
	}
	Label(name + "_next")
	narrow16(v)
	VMOVUPS(packed, mem(vPage, 0))
	narrow16(k)
	for range 2 {
		for i := range 8 {
			VPEXTRW(Imm(uint64(i)), packed.AsX(), mem(kPage, 0))
			ADDQ(pitch, kPage)
		}
		VEXTRACTI128(Imm(1), packed, packed.AsX())
	}
	addq(64, k)
	addq(64, v)
	addq(32, vPage)
	SUBQ(Imm(16), left)
	JNZ(LabelRef(name + "_next"))
	end()
}

// Registers of narrow16: three constants.
const (
	nOne = 8 + iota
	nRound
	nQuiet
)

// narrow16 rounds 16 numbers to bf16, ties to even, a NaN to a NaN. They are left in the
// first register.
func narrow16(x reg.Register) {
	for i := range 2 {
		r, bits, top, nan := avx2.v(i), avx2.v(2), avx2.v(3), avx2.v(4)
		VMOVUPS(mem(x, 32*i), bits)
		VPSRLD(Imm(16), bits, top)
		VPAND(avx2.v(nOne), top, r)
		VPADDD(avx2.v(nRound), r, r)
		VPADDD(bits, r, r)
		VPSRLD(Imm(16), r, r)
		VPOR(avx2.v(nQuiet), top, top)
		VCMPPS(Imm(3), bits, bits, nan)
		VBLENDVPS(nan, top, r, r)
	}
	VPACKUSDW(avx2.v(1), avx2.v(0), avx2.v(0))
	VPERMQ(Imm(0xd8), avx2.v(0), avx2.v(0))
}
