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
		fmt.Sprintf("Strides are in bytes. Of 4 bits there are %d blocks at most.", unpackedBlocks))
	w := Load(Param("w"), GP64())
	x := stridedRows{Load(Param("x"), GP64()), GP64(), Load(Param("xStride"), GP64())}
	out, rows := Load(Param("out"), GP64()), Load(Param("rows"), GP64())
	blocks := GP64()
	ahead := p.begin512(blocks)
	broadcast(magic, avx512.v(regMagic))
	if p.bits == 4 {
		packed := w
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

// lookahead is the part of the panel that the next call multiplies with.
type lookahead struct{ at, end reg.Register }

func (p packing) begin512(size reg.Register) lookahead {
	l := lookahead{GP64(), GP64()}
	Load(Param("blocks"), size)
	IMUL3Q(I32(int32(p.block)), size, size)
	Load(Param("w"), l.at)
	ADDQ(size, l.at)
	LEAQ(Mem{Base: l.at, Index: size, Scale: 1}, l.end)
	return l
}

// fetch fetches some of it in each block of a pass, so that it comes while rows are
// multiplied: all that a block needs where rows are few.
func (l lookahead) fetch(name string, p packing, rows int) {
	size := p.block
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
	p.scale512(n, w, x)
	x.next(xBlock)
	addq(p.step, w)
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

// dots512 sums a block's products of n rows. Integers begin at magic, so that they are
// floats as they are, and 8-bit weights, which are 128 too large, at less.
func (p packing) dots512(n int, w reg.Register, x stridedRows) {
	z := avx512.v
	for j := range 8 {
		for c := range 2 {
			VMOVDQU64(mem(w, 512*c+64*j), z(regW+c))
		}
		for r := range n {
			b := z(regX + (j*n+r)%5)
			VPBROADCASTD(x.at(r, 4*j), b)
			for c := range 2 {
				sum := z(2*r + c)
				switch {
				case j == 0 && p.bits == 8:
					VPBROADCASTD(x.at(r, xOffset), sum)
				case j == 0:
					VMOVDQA64(z(regMagic), sum)
				}
				dot(b, z(regW+c), sum)
			}
		}
	}
}

// scale512 adds a block's sums, times the scales, and minima to the float sums:
// (magic+sum)*s - magic*s is sum*s, rounded once.
func (p packing) scale512(n int, w reg.Register, x stridedRows) {
	z := avx512.v
	for c := range 2 {
		if p.bits == 8 {
			VCVTPH2PS(mem(w, p.d+32*c), z(regW+c))
			continue
		}
		VMOVUPS(mem(w, 1024+64*c), z(regW+c))
		VMOVUPS(mem(w, 1152+64*c), z(regX+c))
	}
	s, bias, sx := z(regX+2), z(regX+3), z(regX+4)
	for r := range n {
		VBROADCASTSS(x.at(r, xBias), bias)
		VBROADCASTSS(x.at(r, xScale), s)
		if p.bits == 4 {
			VBROADCASTSS(x.at(r, xSums), sx)
		}
		for c := range 2 {
			VFMADD213PS(bias, s, z(2*r+c))
			VFMADD231PS(z(regW+c), z(2*r+c), z(2*n+2*r+c))
		}
		for c := range 2 {
			if p.bits == 4 {
				VFMADD231PS(z(regX+c), sx, z(2*n+2*r+c))
			}
		}
	}
}
