package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const panel = 32 // columns of a weight panel

// gemmRows is up to how many rows there is a kernel for each number of. rows*panel sums
// stay in registers over all of k, beside weights and broadcast activations.
func (s isa) gemmRows() int {
	if s.lanes == 16 {
		return 12
	}
	return 3
}

// line is a k of a panel: how register c of its weights comes into the one given.
type line func(c int, into reg.VecPhysical)

// gemm multiplies rows of x with one panel w, laid out [k][32]. Every output is
// one chain of fused multiply-adds over ascending k.
func gemm(s isa, rows int) {
	name := fmt.Sprintf("gemm%d%s", rows, s.name)
	fn(name, "func(w, x, out *float32, k, xStride, outStride int64)",
		fmt.Sprintf("%s multiplies %d rows of x with a panel of 32 columns. Strides are in bytes.", name, rows))
	w := Load(Param("w"), GP64())
	x := rowsOf("x", rows)
	k := Load(Param("k"), GP64())
	s.zeroSums(rows)
	Label(name + "_k")
	prefetchPanel(w)
	s.addLine(rows, x, 0, func(c int, into reg.VecPhysical) { VMOVUPS(mem(w, c*s.bytes()), into) })
	addq(4*panel, w)
	x.advance(4)
	DECQ(k)
	JNZ(LabelRef(name + "_k"))
	s.storeSums(rows)
	end()
}

// gemmBF16 is gemm for weights in bf16, two k of a column side by side. A bf16 is a
// float32's upper half: a shift makes one of the even k, a mask of the odd.
func gemmBF16(s isa, rows int) {
	name := fmt.Sprintf("gemmBF16x%d%s", rows, s.name)
	fn(name, "func(w *uint16, x, out *float32, k, xStride, outStride int64)",
		fmt.Sprintf("%s multiplies %d rows of x with a panel of 32 columns in bf16. Strides are", name, rows),
		"in bytes.")
	w := Load(Param("w"), GP64())
	x := rowsOf("x", rows)
	k := Load(Param("k"), GP64())
	s.zeroSums(rows)
	even := func(c int, into reg.VecPhysical) {
		if s.lanes == 16 {
			VPSLLD(Imm(16), mem(w, c*s.bytes()), into)
			return
		}
		VMOVDQU(mem(w, c*s.bytes()), into)
		VPSLLD(Imm(16), into, into)
	}
	mask := upperHalves()
	odd := func(c int, into reg.VecPhysical) {
		if s.lanes == 16 {
			VPANDD(mem(w, c*s.bytes()), s.v(31), into)
			return
		}
		VMOVDQU(mem(w, c*s.bytes()), into)
		VPAND(mask, into, into)
	}
	if s.lanes == 16 {
		VPBROADCASTD(mask, s.v(31))
	}
	SUBQ(Imm(2), k)
	JLT(LabelRef(name + "_last"))
	Label(name + "_k")
	prefetchPanel(w)
	s.addLine(rows, x, 0, even)
	s.addLine(rows, x, 4, odd)
	addq(4*panel, w)
	x.advance(8)
	SUBQ(Imm(2), k)
	JGE(LabelRef(name + "_k"))
	Label(name + "_last")
	Comment("-1: one k is left")
	INCQ(k)
	JNZ(LabelRef(name + "_end"))
	s.addLine(rows, x, 0, even)
	Label(name + "_end")
	s.storeSums(rows)
	end()
}

var upperMask *Mem

// upperHalves is a register's worth of masks of the upper 16 of 32 bits.
func upperHalves() Mem {
	if upperMask == nil {
		m := GLOBL("upperHalves", RODATA|NOPTR)
		for i := range 8 {
			DATA(4*i, U32(0xffff0000))
		}
		upperMask = &m
	}
	return *upperMask
}

// prefetchPanel fetches what is 4 KB ahead, often in the panel that follows.
func prefetchPanel(w reg.Register) {
	PREFETCHT0(mem(w, 4096))
	PREFETCHT0(mem(w, 4160))
}

// zeroSums clears the registers of rows' sums, which come first.
func (s isa) zeroSums(rows int) {
	for i := range rows * panel / s.lanes {
		s.zero(i)
	}
}

// addLine adds the products of a k to the sums; offset is where in x it is.
func (s isa) addLine(rows int, x rowPointers, offset int, weights line) {
	vecs := panel / s.lanes
	sums := rows * vecs
	if s.lanes == 16 {
		for c := range vecs {
			weights(c, s.v(sums+c))
		}
		for r := range rows {
			b := s.v(sums + vecs + r%4) // a few, so that loads run ahead
			VBROADCASTSS(x.at(r, offset), b)
			for c := range vecs {
				VFMADD231PS(s.v(sums+c), b, s.v(r*vecs+c))
			}
		}
		return
	}
	for r := range rows {
		VBROADCASTSS(x.at(r, offset), s.v(sums+r))
	}
	for c := range vecs {
		weights(c, s.v(sums+rows))
		for r := range rows {
			VFMADD231PS(s.v(sums+rows), s.v(sums+r), s.v(r*vecs+c))
		}
	}
}

// storeSums writes the sums to out.
func (s isa) storeSums(rows int) {
	out := Load(Param("out"), GP64())
	stride := Load(Param("outStride"), GP64())
	for r := range rows {
		for c := range panel / s.lanes {
			VMOVUPS(s.v(r*panel/s.lanes+c), mem(out, c*s.bytes()))
		}
		ADDQ(stride, out)
	}
}

// rowPointers point at rows: base i at row 3*i, the two behind it being one and two
// strides away. So 12 rows take 5 registers.
type rowPointers struct {
	bases  []reg.GPVirtual
	stride reg.Register
}

// rowsOf points at rows of a parameter, whose stride in bytes is another.
func rowsOf(name string, rows int) rowPointers {
	p := rowPointers{bases: []reg.GPVirtual{GP64()}}
	Load(Param(name), p.bases[0])
	if rows == 1 {
		return p
	}
	p.stride = Load(Param(name+"Stride"), GP64())
	for len(p.bases)*3 < rows {
		next := GP64()
		LEAQ(Mem{Base: p.bases[len(p.bases)-1], Index: p.stride, Scale: 2}, next)
		ADDQ(p.stride, next)
		p.bases = append(p.bases, next)
	}
	return p
}

// at is the place of row r.
func (p rowPointers) at(r, offset int) Mem {
	m := mem(p.bases[r/3], offset)
	if i := r % 3; i > 0 {
		m.Index, m.Scale = p.stride, uint8(i)
	}
	return m
}

// advance goes on by n bytes in every row.
func (p rowPointers) advance(n int) {
	for _, b := range p.bases {
		addq(n, b)
	}
}
