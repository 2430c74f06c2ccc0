package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of quantising, and the registers they stay in.
const (
	regAbs     = 15
	regHigh    = 14
	regLow     = 13
	regTiny    = 12
	regOrder   = 11
	regInverse = 10
	regScale   = 9
)

var quantiseTable *Mem

// quantiseConstants loads them. What is not in registers is returned.
func quantiseConstants() (order, seventh, clean, bias, offset Mem) {
	if quantiseTable == nil {
		m := GLOBL("quantiseConstants", RODATA|NOPTR)
		for i, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7,
			0x3c010204, // 1/127
			0xfffffffc, // 22 bits of a float's 24
			0xcb400000, // -1.5*2^23
			magic} {
			DATA(4*i, U32(v))
		}
		quantiseTable = &m
	}
	broadcast2(0x7fffffff, regAbs)
	broadcast2(0x42fe0000, regHigh) // 127
	broadcast2(0xc2fe0000, regLow)
	broadcast2(0x0da24260, regTiny) // 1e-30
	at := func(i int) Mem { return quantiseTable.Offset(4 * i) }
	return at(0), at(8), at(9), at(10), at(11)
}

// largest raises the lanes of register to by the sizes of 32 numbers, compared as bits.
func largest(x reg.Register, to int) {
	y := avx2.v
	for i := range 4 {
		VPAND(mem(x, 32*i), y(regAbs), y(i))
		VPMAXUD(y(i), y(to), y(to))
	}
}

// scales makes of sizes, in the lanes of register of, the scale of the largest: that times
// unit, in lane 0 there, and the inverse, top over it, in all lanes of theirs. A NaN is the
// largest of sizes, which are compared as bits. Register t is clobbered.
func scales(of, t, top, inverse int, unit Mem) {
	x, y := avx2.v(of).AsX(), avx2.v(inverse)
	fold8(of, t, VPMAXUD)
	VDIVSS(x, avx2.v(top).AsX(), y.AsX())
	VBROADCASTSS(y.AsX(), y)
	VMULSS(unit, x, x)
}

// toBytes makes bytes of 32 numbers in register 0, clamped so that a NaN is -127, and
// adds them to the lanes of registers: the first 16 and the last.
func toBytes(x reg.Register, first, last int) {
	y := avx2.v
	for i := range 4 {
		VMULPS(mem(x, 32*i), y(regInverse), y(i))
		VMAXPS(y(regLow), y(i), y(i))
		VMINPS(y(regHigh), y(i), y(i))
		VCVTPS2DQ(y(i), y(i))
	}
	for i := range 4 {
		sum := y([]int{first, last}[i/2])
		VPADDD(y(i), sum, sum)
	}
	VPACKSSDW(y(1), y(0), y(0))
	VPACKSSDW(y(3), y(2), y(2))
	VPACKSSWB(y(2), y(0), y(0))
	VPERMD(y(0), y(regOrder), y(0))
}

// quantise packs blocks of a row.
func quantise() {
	fn("quantise", "func(x *float32, dst *byte, n int64)", "quantise packs n blocks of a row.")
	x, dst, n := Load(Param("x"), GP64()), Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	order, seventh, clean, toBias, offset := quantiseConstants()
	VMOVDQU(order, avx2.v(regOrder))
	scale, sum, t, bias, last := avx2.v(regScale).AsX(), reg.X4, reg.X5, reg.X6, reg.X7
	Label("quantise_block")
	VMOVDQA(avx2.v(regTiny), avx2.v(regScale))
	largest(x, regScale)
	scales(regScale, 1, regHigh, regInverse, seventh)
	VMOVSS(clean, t)
	VPAND(t, scale, scale)
	VMULSS(toBias, scale, bias)
	VSUBSS(bias, bias, t) // NaN where it overflows
	VADDSS(t, scale, scale)
	avx2.zero(4)
	avx2.zero(7)
	toBytes(x, 4, 7)
	VMOVDQU(reg.Y0, mem(dst, 0))
	fold8(4, 1, VPADDD)
	fold8(7, 1, VPADDD)
	VMOVSS(scale, mem(dst, xScale))
	VMOVSS(bias, mem(dst, xBias))
	VPUNPCKLDQ(last, sum, reg.X0)
	VPSLLD(Imm(5), reg.X0, reg.X0)
	VPBROADCASTD(offset, t)
	VPSUBD(reg.X0, t, t)
	VMOVQ(t, mem(dst, xHalves))
	VPADDD(last, sum, sum)
	VCVTDQ2PS(sum, t)
	VMULSS(t, scale, t)
	VMOVSS(t, mem(dst, xSums))
	VPSLLD(Imm(7), sum, sum)
	VMOVD(offset, t)
	VPSUBD(sum, t, t)
	VMOVD(t, mem(dst, xOffset))
	addq(128, x)
	addq(xBlock, dst)
	DECQ(n)
	JNZ(LabelRef("quantise_block"))
	end()
}

// quantiseC8 packs a group of a row, which lies beside those of 7 others.
func quantiseC8() {
	fn("quantiseGroup", "func(x *float32, dst *byte, blocks int64)",
		"quantiseGroup packs so many blocks of a row with one scale.")
	x, dst := Load(Param("x"), GP64()), Load(Param("dst"), GP64())
	left := Load(Param("blocks"), GP64())
	order, seventh, _, _, _ := quantiseConstants()
	VMOVDQU(order, avx2.v(regOrder))
	scale, sum := avx2.v(regScale).AsX(), reg.X4
	VMOVDQA(avx2.v(regTiny), avx2.v(regScale))
	Label("quantiseGroup_size")
	largest(x, regScale)
	addq(128, x)
	DECQ(left)
	JNZ(LabelRef("quantiseGroup_size"))
	scales(regScale, 1, regHigh, regInverse, seventh)
	Load(Param("x"), x)
	Load(Param("blocks"), left)
	avx2.zero(4)
	Label("quantiseGroup_block")
	toBytes(x, 4, 4)
	VEXTRACTI128(Imm(1), reg.Y0, reg.X1)
	for j := range 8 {
		from := []reg.VecPhysical{reg.X0, reg.X1}[j/4]
		VPEXTRD(Imm(uint64(j%4)), from, mem(dst, 32*j))
	}
	addq(128, x)
	addq(256, dst)
	DECQ(left)
	JNZ(LabelRef("quantiseGroup_block"))
	fold8(4, 1, VPADDD)
	VMOVSS(scale, mem(dst, 0))
	VPSLLD(Imm(7), sum, sum)
	VPXOR(reg.X1, reg.X1, reg.X1)
	VPSUBD(sum, reg.X1, reg.X1)
	VMOVD(reg.X1, mem(dst, 32))
	end()
}
