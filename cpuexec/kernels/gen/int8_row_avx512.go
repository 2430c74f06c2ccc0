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
	at, blocks, eight := GP64(), GP64(), GP64()
	z := avx512.v
	broadcast(0x0f0f0f0f, z(31))
	broadcast(magic, z(30))
	by := []heads{{z(22), z(23)}, {z(24), z(25)}}
	Label(name + "_panel")
	MOVQ(x, at)
	Load(Param("blocks"), blocks)
	for c := range 2 {
		avx512.zero(c)
	}
	if p.head > 0 {
		Label(name + "_eight")
		MOVQ(U32(8), eight)
		prefetchAhead(w, 4096, p.head)
		for c := range 2 {
			p.heads512(w, c, by[c])
		}
		addq(p.head, w)
	}
	Label(name + "_block")
	p.rowBlock512(w, at, by)
	addq(p.block, w)
	addq(xBlock, at)
	if p.head > 0 {
		DECQ(eight)
		JNZ(LabelRef(name + "_block"))
		SUBQ(Imm(8), blocks)
		JNZ(LabelRef(name + "_eight"))
	} else {
		DECQ(blocks)
		JNZ(LabelRef(name + "_block"))
	}
	for c := range 2 {
		VMOVUPS(z(c), mem(out, 64*c))
	}
	addq(4*panel, out)
	DECQ(panels)
	JNZ(LabelRef(name + "_panel"))
	end()
}

// rowBlock512 adds the products of a row with a block to the float sums.
func (p packing) rowBlock512(w, x reg.Register, by []heads) {
	z := avx512.v
	prefetchAhead(w, 4096, p.block)
	s, bias := z(28), z(29)
	VBROADCASTSS(mem(x, xScale), s)
	VBROADCASTSS(mem(x, xBias), bias)
	for c := range 2 {
		factors := []reg.VecPhysical{z(20), z(21)}
		p.factors512(w, c, by[c], factors[0], factors[1])
		for part := range p.parts() {
			t := z(2 + part)
			p.rowDots512(w, x, c, part, t)
			VFMADD213PS(bias, s, t)
			VFMADD231PS(factors[part], t, z(c))
		}
		if p.minima() {
			VFMADD231PS_BCST(mem(x, xSums), factors[1], z(c))
		}
	}
}

// rowDots512 adds magic and the dot products of a part of a row with half c of a block's
// columns.
func (p packing) rowDots512(w, x reg.Register, c, part int, t reg.VecPhysical) {
	z := avx512.v
	if place, ok := p.start(part); ok {
		VPBROADCASTD(mem(x, place), t)
	} else {
		VMOVDQA64(z(30), t)
	}
	if p.bits == 8 {
		for j := range 8 {
			VMOVDQU64(mem(w, 512*c+64*j), z(4+j))
			dotBroadcast(mem(x, 4*j), z(4+j), t)
		}
		return
	}
	for _, v := range p.vectors(part) {
		low, high := z(4+v), z(8+v)
		p.nibbles512(w, c, v, z(31), z(12+v), low, high)
		dotBroadcast(mem(x, 4*p.group(v, 0)), low, t)
		dotBroadcast(mem(x, 4*p.group(v, 1)), high, t)
	}
}
