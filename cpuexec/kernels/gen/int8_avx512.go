package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Registers of a pass behind the integer and the float sums of 6 rows.
const (
	regW     = 24 // 2, and in the end the scales
	regX     = 26 // 5, in the end 2 of minima and 3 of a row
	regMagic = 31
)

// passRows are how many rows pass a panel at once, most first: 12 chains of dot products
// hide what one takes, and all sums fit the registers.
var passRows = []int{6, 4, 2, 1}

// gemmPacked512 multiplies rows with blocks of a panel.
func gemmPacked512(p packing) {
	name := "gemm" + p.name + "AVX512"
	TEXT(name, 0, "func(w, x *byte, out *float32, blocks, rows, xStride, outStride, from int64)")
	Pragma("noescape")
	Doc(name+" multiplies packed rows with blocks of a panel, and adds where from is not 0.",
		"Strides are in bytes."+p.limits())
	w := Load(Param("w"), GP64())
	x := stridedRows{Load(Param("x"), GP64()), GP64(), Load(Param("xStride"), GP64())}
	out, rows := Load(Param("out"), GP64()), Load(Param("rows"), GP64())
	blocks := GP64()
	ahead := p.begin512(blocks)
	broadcast(magic, avx512.v(regMagic))
	if p.bits < 8 {
		packed := w
		addq(p.head, packed)
		w = frame(unpackedBlocks * unpackedBlock)
		for _, n := range passRows {
			pass := fmt.Sprintf("%s_first%d", name, n)
			CMPQ(rows, U8(n))
			JLT(LabelRef(pass + "_less"))
			p.pass512(pass, n, w, packed, ahead, x, out, blocks)
			SUBQ(Imm(uint64(n)), rows)
			JMP(LabelRef(fmt.Sprintf("%s_%d", name, passRows[0])))
			Label(pass + "_less")
		}
	}
	for _, n := range passRows {
		pass := fmt.Sprintf("%s_%d", name, n)
		Label(pass)
		CMPQ(rows, U8(n))
		JLT(LabelRef(pass + "_less"))
		p.pass512(pass, n, w, nil, ahead, x, out, blocks)
		SUBQ(Imm(uint64(n)), rows)
		JMP(LabelRef(pass))
		Label(pass + "_less")
	}
	end()
}

// limits says how many blocks a call takes.
func (p packing) limits() string {
	switch {
	case p.bits == 8:
		return ""
	case p.head > 0:
		return " There are 8 blocks."
	}
	return fmt.Sprintf(" There are %d blocks at most.", unpackedBlocks)
}

// lookahead is the part of the panel that the next call multiplies with.
type lookahead struct{ at, end reg.Register }

func (p packing) begin512(size reg.Register) lookahead {
	l := lookahead{GP64(), GP64()}
	Load(Param("blocks"), size)
	IMUL3Q(I32(int32(p.size())), size, size)
	Load(Param("w"), l.at)
	ADDQ(size, l.at)
	LEAQ(Mem{Base: l.at, Index: size, Scale: 1}, l.end)
	return l
}

// fetch fetches some of it in each block of a pass, so that it comes while rows are
// multiplied: all that a block needs where rows are few.
func (l lookahead) fetch(name string, p packing, rows int) {
	size := (p.size() + 63) &^ 63
	if rows == passRows[0] {
		size = (size/3 + 63) &^ 63
	}
	CMPQ(l.at, l.end)
	JGE(LabelRef(name + "_fetched"))
	for at := 0; at < size; at += 64 {
		PREFETCHT0(mem(l.at, at))
	}
	addq(size, l.at)
	Label(name + "_fetched")
}

// pass512 multiplies n rows with the blocks at weights, adds, and goes on to the next rows.
// The first rows of a call, be it a single one, find them packed, and leave them unpacked
// there.
func (p packing) pass512(name string, n int, weights, packed reg.Register, ahead lookahead, x stridedRows, out, left reg.Register) {
	z := avx512.v
	w, row, stride, from := GP64(), GP64(), Load(Param("outStride"), GP64()), GP64()
	for i := range 2 * n {
		avx512.zero(2*n + i)
	}
	Load(Param("from"), from)
	TESTQ(from, from)
	JEQ(LabelRef(name + "_begin"))
	eachRow(n, out, row, stride, func(i int, m Mem) { VMOVUPS(m, z(2*n+i)) })
	Label(name + "_begin")
	MOVQ(weights, w)
	x.begin()
	Load(Param("blocks"), left)
	Label(name + "_block")
	ahead.fetch(name, p, n)
	if packed != nil {
		p.unpackDots512(n, packed, w, x)
		addq(p.block, packed)
	} else {
		p.dots512(n, w, x)
	}
	x.next(xBlock)
	if p.bits < 8 {
		addq(unpackedBlock, w)
	} else {
		addq(p.block, w)
	}
	DECQ(left)
	JNZ(LabelRef(name + "_block"))
	eachRow(n, out, row, stride, func(i int, m Mem) { VMOVUPS(z(2*n+i), m) })
	MOVQ(row, out)
	// from the rows' ends to the next rows' beginning
	Load(Param("blocks"), left)
	IMUL3Q(I32(-xBlock), left, left)
	ADDQ(left, x.first)
	for range n {
		ADDQ(x.stride, x.first)
	}
}

// eachRow visits the 2 registers' places in each row of out; row is behind the last then.
func eachRow(n int, out, row, stride reg.Register, do func(i int, m Mem)) {
	MOVQ(out, row)
	for r := range n {
		for c := range 2 {
			do(2*r+c, mem(row, 64*c))
		}
		ADDQ(stride, row)
	}
}

// dots512 adds the products of n rows with a block.
func (p packing) dots512(n int, w reg.Register, x stridedRows) {
	z := avx512.v
	for part := range p.parts() {
		p.starts512(n, part, x)
		for i := range p.groups() {
			j := part*p.groups() + i
			for c := range 2 {
				VMOVDQU64(mem(w, 512*c+64*j), z(regW+c))
			}
			for r := range n {
				b := z(regX + (j*n+r)%5)
				VPBROADCASTD(x.at(r, 4*j), b)
				for c := range 2 {
					dot(b, z(regW+c), z(2*r+c))
				}
			}
		}
		p.scale512(n, part, w, x)
	}
}

// starts512 begins the integer sums of n rows.
func (p packing) starts512(n, part int, x stridedRows) {
	z := avx512.v
	place, ok := p.start(part)
	for r := range n {
		if !ok {
			VMOVDQA64(z(regMagic), z(2*r))
		} else {
			VPBROADCASTD(x.at(r, place), z(2*r))
		}
		VMOVDQA64(z(2*r), z(2*r+1))
	}
}

// scale512 adds a part's sums, times the scales, and minima to the float sums:
// (magic+sum)*s - magic*s is sum*s, rounded once.
func (p packing) scale512(n, part int, w reg.Register, x stridedRows) {
	z := avx512.v
	for c := range 2 {
		if p.bits == 8 {
			VCVTPH2PS(mem(w, p.d+32*c), z(regW+c))
			continue
		}
		VMOVUPS(mem(w, 1024+128*part+64*c), z(regW+c))
		if p.minima() {
			VMOVUPS(mem(w, 1152+64*c), z(regX+c))
		}
	}
	s, bias, sx := z(regX+2), z(regX+3), z(regX+4)
	for r := range n {
		VBROADCASTSS(x.at(r, xBias), bias)
		VBROADCASTSS(x.at(r, xScale), s)
		if p.minima() {
			VBROADCASTSS(x.at(r, xSums), sx)
		}
		for c := range 2 {
			VFMADD213PS(bias, s, z(2*r+c))
			VFMADD231PS(z(regW+c), z(2*r+c), z(2*n+2*r+c))
		}
		for c := range 2 {
			if p.minima() {
				VFMADD231PS(z(regX+c), sx, z(2*n+2*r+c))
			}
		}
	}
}
