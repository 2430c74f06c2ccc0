package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

const panel = 32 // columns of a weight panel

// gemmRows are the row counts that there are kernels for. rows*panel sums stay in
// registers over all of k, beside the panel's line and a broadcast activation.
func gemmRows(s isa) []int {
	if s.lanes == 16 {
		return []int{1, 2, 4, 8}
	}
	return []int{1, 2}
}

// gemm multiplies rows of x with one panel w, laid out [k][32]. Every output is
// one chain of fused multiply-adds over ascending k.
func gemm(s isa, rows int) {
	name := fmt.Sprintf("gemm%d%s", rows, s.name)
	fn(name, "func(w, x, out *float32, k, xStride, outStride int64)",
		fmt.Sprintf("%s multiplies %d rows of x with a panel of 32 columns. Strides are in bytes.", name, rows))
	w := Load(Param("w"), GP64())
	x := rowPointers(rows)
	k := Load(Param("k"), GP64())
	vecs := panel / s.lanes
	weight, value := rows*vecs, (rows+1)*vecs
	for i := range rows * vecs {
		s.zero(i)
	}
	at := GP64()
	XORQ(at, at)
	Label(name + "_k")
	Comment("4 KB ahead, often in the panel that follows")
	PREFETCHT0(mem(w, 4096))
	PREFETCHT0(mem(w, 4160))
	for c := range vecs {
		VMOVUPS(mem(w, c*s.bytes()), s.v(weight+c))
	}
	for r := range rows {
		b := s.v(value + r%4) // a few, so that loads run ahead
		VBROADCASTSS(x[r].Idx(at, 1), b)
		for c := range vecs {
			VFMADD231PS(s.v(weight+c), b, s.v(r*vecs+c))
		}
	}
	addq(4*panel, w)
	addq(4, at)
	DECQ(k)
	JNZ(LabelRef(name + "_k"))
	out := Load(Param("out"), GP64())
	stride := Load(Param("outStride"), GP64())
	for r := range rows {
		for c := range vecs {
			VMOVUPS(s.v(r*vecs+c), mem(out, c*s.bytes()))
		}
		ADDQ(stride, out)
	}
	end()
}

// rowPointers points at the rows of x.
func rowPointers(rows int) []Mem {
	p := Load(Param("x"), GP64())
	rowsAt := []Mem{{Base: p}}
	if rows == 1 {
		return rowsAt
	}
	stride := Load(Param("xStride"), GP64())
	for range rows - 1 {
		next := GP64()
		LEAQ(Mem{Base: p, Index: stride, Scale: 1}, next)
		rowsAt = append(rowsAt, Mem{Base: next})
		p = next
	}
	return rowsAt
}
