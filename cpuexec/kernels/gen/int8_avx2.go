package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Registers of AVX2 products behind the sums of 4 rows and 16 columns.
const (
	reg2W    = 8  // 2
	reg2X    = 10 // 4
	reg2Mask = 14
	reg2Ones = 15 // 16 bits each
)

// passRows2 are how many rows pass 16 columns at once.
var passRows2 = []int{4, 2, 1}

// gemmPacked2 multiplies rows with blocks of a panel, float sums being in out.
func gemmPacked2(p packing) {
	name := "gemm" + p.name + "AVX2"
	fn(name, "func(w, x *byte, out *float32, blocks, rows, xStride, outStride, from int64)",
		name+" multiplies packed rows with blocks of a panel, and adds where from is not 0.",
		"Strides are in bytes.")
	x := stridedRows{Load(Param("x"), GP64()), GP64(), Load(Param("xStride"), GP64())}
	out := stridedRows{Load(Param("out"), GP64()), GP64(), Load(Param("outStride"), GP64())}
	rows := Load(Param("rows"), GP64())
	p.constants2()
	for _, n := range passRows2 {
		pass := fmt.Sprintf("%s_%d", name, n)
		Label(pass)
		CMPQ(rows, U8(n))
		JLT(LabelRef(pass + "_less"))
		out.begin()
		from := Load(Param("from"), GP64())
		TESTQ(from, from)
		JNE(LabelRef(pass + "_begin"))
		clear2(n, out)
		Label(pass + "_begin")
		for half := range 2 {
			p.pass2(fmt.Sprintf("%s_%d", pass, half), n, half, x, out)
		}
		for range n {
			ADDQ(x.stride, x.first)
			ADDQ(out.stride, out.first)
		}
		SUBQ(Imm(uint64(n)), rows)
		JMP(LabelRef(pass))
		Label(pass + "_less")
	}
	end()
}

// constants2 fills the registers that stay.
func (p packing) constants2() {
	mask := uint32(0x0f0f0f0f)
	if p.bits == 8 {
		mask = 0x80808080
	}
	broadcast2(mask, reg2Mask)
	broadcast2(0x00010001, reg2Ones)
}

// broadcast2 fills a register's lanes.
func broadcast2(v uint32, i int) {
	r := GP32()
	MOVL(U32(v), r)
	VMOVD(r, avx2.v(i).AsX())
	VPBROADCASTD(avx2.v(i).AsX(), avx2.v(i))
}

// clear2 sets the sums of n rows to 0.
func clear2(n int, out stridedRows) {
	avx2.zero(0)
	for i := range 4 * n {
		VMOVUPS(avx2.v(0), out.at(i/4, i%4*32))
	}
}

// pass2 adds the products of n rows with 16 columns.
func (p packing) pass2(name string, n, half int, x, out stridedRows) {
	w, left := Load(Param("w"), GP64()), Load(Param("blocks"), GP64())
	at := stridedRows{GP64(), GP64(), x.stride}
	MOVQ(x.first, at.first)
	at.begin()
	addq(p.head, w)
	Label(name)
	prefetchAhead(w, 4096, p.block)
	for part := range p.parts() {
		p.starts2(n, part, at)
		if p.bits == 8 {
			for j := range 8 {
				for i := range 2 {
					bytes2(mem(w, 512*half+64*j+32*i), n, i, func(r int) Mem { return at.at(r, 4*j) })
				}
			}
		}
		for _, v := range p.vectors(part) {
			for i := range 2 {
				if p.bits < 8 {
					p.nibbles2(w, n, half, i, v, at)
				}
			}
		}
		p.scale2(n, half, part, w, at, out)
	}
	at.next(xBlock)
	addq(p.block, w)
	DECQ(left)
	JNZ(LabelRef(name))
}

// starts2 begins the integer sums of n rows: of bytes, which become signed, at 0.
func (p packing) starts2(n, part int, x stridedRows) {
	for r := range n {
		for i := range 2 {
			if p.parts() == 2 {
				place, _ := p.start(part)
				VPBROADCASTD(x.at(r, place), avx2.v(2*r+i))
			} else {
				avx2.zero(2*r + i)
			}
		}
	}
}

// bytes2 adds the products of 8 columns and 4 k. Bytes are made signed; VPMADDUBSW takes
// one unsigned factor and adds pairs in 16 bits: |w| of at most 128, and x of at most 127
// with w's sign.
func bytes2(from Mem, n, i int, x func(r int) Mem) {
	y := avx2.v
	w, size := y(reg2W), y(reg2W+1)
	VPXOR(from, y(reg2Mask), w)
	VPABSB(w, size)
	for r := range n {
		t := y(reg2X + r)
		VPBROADCASTD(x(r), t)
		VPSIGNB(w, t, t)
		VPMADDUBSW(t, size, t)
		VPMADDWD(y(reg2Ones), t, t)
		VPADDD(t, y(2*r+i), y(2*r+i))
	}
}

// nibbles2 adds the products of 8 columns and twice 4 k. Of 4 bits they are added in 16
// bits: 8 times two of 15*127 fit; of more two times two of 63*127 do.
func (p packing) nibbles2(w reg.Register, n, half, i, v int, x stridedRows) {
	y := avx2.v
	low, high := y(reg2W), y(reg2W+1)
	VMOVDQU(mem(w, 256*half+64*v+32*i), low)
	VPSRLW(Imm(4), low, high)
	VPAND(y(reg2Mask), low, low)
	VPAND(y(reg2Mask), high, high)
	if p.bits > 4 {
		p.addHigh2(w, half, i, p.group(v, 0), low)
		p.addHigh2(w, half, i, p.group(v, 1), high)
	}
	for r := range n {
		a, b, sum := y(reg2X+2*r%4), y(reg2X+(2*r+1)%4), y(2*r+i)
		VPBROADCASTD(x.at(r, 4*p.group(v, 0)), a)
		VPBROADCASTD(x.at(r, 4*p.group(v, 1)), b)
		VPMADDUBSW(a, low, a)
		VPMADDUBSW(b, high, b)
		if p.bits == 4 {
			VPADDW(a, sum, sum)
			VPADDW(b, sum, sum)
			continue
		}
		VPADDW(a, b, b)
		VPMADDWD(y(reg2Ones), b, b)
		VPADDD(b, sum, sum)
	}
}

// addHigh2 adds the bits above nibbles.
func (p packing) addHigh2(w reg.Register, half, i, group int, to reg.VecPhysical) {
	t := avx2.v(reg2X)
	place, shift := p.high(half, group)
	VMOVDQU(mem(w, place+32*i), t)
	switch {
	case shift > 0:
		VPSRLW(Imm(uint64(shift)), t, t)
	case shift < 0:
		VPSLLW(Imm(uint64(-shift)), t, t)
	}
	VPAND(p.highMask(), t, t)
	VPOR(t, to, to)
}

// factors2 makes what sums of 8 columns are multiplied with, and minima. Register t is
// clobbered.
func (p packing) factors2(w reg.Register, half, part, i int, d, m, t reg.VecPhysical) {
	at := 32*half + 16*i // of halves
	if p.head == 0 {
		VCVTPH2PS(mem(w, p.d+at), d)
		switch {
		case p.m > 0:
			VCVTPH2PS(mem(w, p.m+at), m)
		case p.minima():
			VMULPS(constants32(minusEight), d, m)
		}
		return
	}
	head := Load(Param("w"), GP64())
	widen := VPMOVZXBD
	if p.parts() == 2 {
		widen = VPMOVSXBD
	}
	widen(mem(w, p.d+32*part+at/2), d)
	VCVTDQ2PS(d, d)
	VCVTPH2PS(mem(head, at), t)
	VMULPS(t, d, d)
	if p.minima() {
		VPMOVZXBD(mem(w, p.m+at/2), m)
		VCVTDQ2PS(m, m)
		VCVTPH2PS(mem(head, 64+at), t)
		VMULPS(t, m, m)
	}
}

// scale2 adds a part's sums, times the scales, and minima to the float sums.
func (p packing) scale2(n, half, part int, w reg.Register, x, out stridedRows) {
	y := avx2.v
	s, sx := y(reg2X+2), y(reg2X+3)
	for i := range 2 {
		p.factors2(w, half, part, i, y(reg2W+i), y(reg2X+i), s)
	}
	for r := range n {
		VBROADCASTSS(x.at(r, xScale), s)
		if p.minima() {
			VBROADCASTSS(x.at(r, xSums), sx)
		}
		for i := range 2 {
			t, sum := y(2*r+i), out.at(r, 64*half+32*i)
			if p.bits == 4 {
				VPMADDWD(y(reg2Ones), t, t)
			}
			if p.parts() == 2 { // sums that began at magic are floats
				VBROADCASTSS(x.at(r, xBias), sx)
				VFMADD213PS(sx, s, t)
			} else {
				VCVTDQ2PS(t, t)
				VMULPS(s, t, t)
			}
			VFMADD213PS(sum, y(reg2W+i), t)
			if p.minima() {
				VFMADD231PS(y(reg2X+i), sx, t)
			}
			VMOVUPS(t, sum)
		}
	}
}
