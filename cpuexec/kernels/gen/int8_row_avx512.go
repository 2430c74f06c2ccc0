package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowPacked512 multiplies one row with panels, with the operations of gemmPacked512.
func rowPacked512(p packing) {
	name := "row" + p.name + "AVX512"
	fn(name, "func(w, x *byte, out *float32, blocks, panels int64)",
		name+" multiplies a packed row with panels.")
	w, x := Load(Param("w"), GP64()), Load(Param("x"), GP64())
	out, panels := Load(Param("out"), GP64()), Load(Param("panels"), GP64())
	at, blocks := GP64(), GP64()
	z := avx512.v
	broadcast(0x0f0f0f0f, z(31))
	broadcast(magic, z(30))
	Label(name + "_panel")
	MOVQ(x, at)
	Load(Param("blocks"), blocks)
	for c := range 2 {
		avx512.zero(c)
	}
	Label(name + "_block")
	p.prefetch(w, 4096)
	VBROADCASTSS(mem(at, xScale), z(28))
	VBROADCASTSS(mem(at, xBias), z(29))
	for c := range 2 {
		t := z(2 + c)
		p.rowDots512(w, at, c, t)
		VFMADD213PS(z(29), z(28), t)
		VCVTPH2PS(mem(w, p.d+32*c), z(20))
		VFMADD231PS(z(20), t, z(c))
		if p.bits == 4 {
			VCVTPH2PS(mem(w, p.m+32*c), z(21))
			VFMADD231PS_BCST(mem(at, xSums), z(21), z(c))
		}
	}
	addq(p.block, w)
	addq(xBlock, at)
	DECQ(blocks)
	JNZ(LabelRef(name + "_block"))
	for c := range 2 {
		VMOVUPS(z(c), mem(out, 64*c))
	}
	addq(4*panel, out)
	DECQ(panels)
	JNZ(LabelRef(name + "_panel"))
	end()
}

// rowDots512 adds magic and the dot products of a row with half c of a block's columns.
func (p packing) rowDots512(w, x reg.Register, c int, t reg.VecPhysical) {
	z := avx512.v
	if p.bits == 8 {
		VPBROADCASTD(mem(x, xOffset), t)
		for j := range 8 {
			VMOVDQU64(mem(w, 512*c+64*j), z(4+j))
			dotBroadcast(mem(x, 4*j), z(4+j), t)
		}
		return
	}
	VMOVDQA64(z(30), t)
	for j := range 4 {
		low, high := z(4+j), z(8+j)
		VMOVDQU64(mem(w, 256*c+64*j), low)
		VPSRLW(Imm(4), low, high)
		VPANDD(z(31), low, low)
		VPANDD(z(31), high, high)
		dotBroadcast(mem(x, 4*j), low, t)
		dotBroadcast(mem(x, 16+4*j), high, t)
	}
}
