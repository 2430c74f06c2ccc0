package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What takes a small share of a step, and is no faster in wider registers, has one form,
// for AVX2, which serves AVX-512 as well.

// addTile adds 32 columns of src to dst, row by row.
func addTile() {
	fn("addTile", "func(dst, src *float32, rows, dstStride, srcStride int64)",
		"addTile adds rows of 32 columns. Strides are in bytes; a srcStride of 0 adds one",
		"row to all.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	rows := Load(Param("rows"), GP64())
	ds, ss := Load(Param("dstStride"), GP64()), Load(Param("srcStride"), GP64())
	Label("addTile_row")
	for c := range panel / avx2.lanes {
		VMOVUPS(mem(dst, 32*c), avx2.v(c))
		VADDPS(mem(src, 32*c), avx2.v(c), avx2.v(c))
		VMOVUPS(avx2.v(c), mem(dst, 32*c))
	}
	ADDQ(ds, dst)
	ADDQ(ss, src)
	DECQ(rows)
	JNZ(LabelRef("addTile_row"))
	end()
}

const sumLanes = 16 // of reductions, on every CPU

// sumSquares sums in 16 lanes, which are then folded in halves.
func sumSquares() {
	fn("sumSquares", "func(x *float32, n16 int64) float32",
		"sumSquares adds the squares of n16*16 values: 16 lanes, folded in halves.")
	x, n := Load(Param("x"), GP64()), Load(Param("n16"), GP64())
	avx2.zero(0)
	avx2.zero(1)
	Label("sumSquares_l")
	for i := range 2 {
		VMOVUPS(mem(x, 32*i), avx2.v(2+i))
		VFMADD231PS(avx2.v(2+i), avx2.v(2+i), avx2.v(i))
	}
	addq(64, x)
	DECQ(n)
	JNZ(LabelRef("sumSquares_l"))
	VADDPS(avx2.v(1), avx2.v(0), avx2.v(0))
	fold8(0, 1, VADDPS)
	VMOVSS(reg.X0, at(ReturnIndex(0)))
	end()
}

// scaleMul finishes a norm.
func scaleMul(s isa) {
	name := "scaleMul" + s.name
	fn(name, "func(x, w, out *float32, n16 int64, scale float32)",
		name+" writes x*scale*w, n16*16 values.")
	x, w, out := Load(Param("x"), GP64()), Load(Param("w"), GP64()), Load(Param("out"), GP64())
	n := Load(Param("n16"), GP64())
	Load(Param("scale"), reg.X2)
	VBROADCASTSS(reg.X2, s.v(2))
	Label(name + "_l")
	for i := range sumLanes / s.lanes {
		VMULPS(mem(x, i*s.bytes()), s.v(2), s.v(i))
		VMULPS(mem(w, i*s.bytes()), s.v(i), s.v(i))
		VMOVUPS(s.v(i), mem(out, i*s.bytes()))
	}
	addq(64, x)
	addq(64, w)
	addq(64, out)
	DECQ(n)
	JNZ(LabelRef(name + "_l"))
	end()
}

// rope rotates the pairs (i, i+half) of each head.
func rope() {
	fn("rope", "func(x, cos, sin *float32, heads, half int64, scale float32)",
		"rope rotates the pairs (i, i+half) of each head of x in place and scales. half is",
		"a multiple of 8.")
	x := Load(Param("x"), GP64())
	heads := Load(Param("heads"), GP64())
	half := Load(Param("half"), GP64())
	Load(Param("scale"), reg.X8)
	VBROADCASTSS(reg.X8, reg.Y8)
	lo, hi, c, s, a, b := avx2.v(0), avx2.v(1), avx2.v(2), avx2.v(3), avx2.v(4), avx2.v(5)
	cos, sin, left := GP64(), GP64(), GP64()
	Label("rope_head")
	Load(Param("cos"), cos)
	Load(Param("sin"), sin)
	MOVQ(half, left)
	Label("rope_pair")
	upper := Mem{Base: x, Index: half, Scale: 4}
	VMOVUPS(mem(x, 0), lo)
	VMOVUPS(upper, hi)
	VMOVUPS(mem(cos, 0), c)
	VMOVUPS(mem(sin, 0), s)
	VMULPS(c, lo, a)
	VFNMADD231PS(s, hi, a)
	VMULPS(c, hi, b)
	VFMADD231PS(s, lo, b)
	VMULPS(reg.Y8, a, a)
	VMULPS(reg.Y8, b, b)
	VMOVUPS(a, mem(x, 0))
	VMOVUPS(b, upper)
	addq(32, x)
	addq(32, cos)
	addq(32, sin)
	SUBQ(Imm(8), left)
	JNZ(LabelRef("rope_pair"))
	LEAQ(Mem{Base: x, Index: half, Scale: 4}, x)
	DECQ(heads)
	JNZ(LabelRef("rope_head"))
	end()
}

// pause is what a spinning thread does between two looks.
func pause() {
	fn("pause", "func(n int64)", "pause tells the CPU n times that this thread spins.")
	n := Load(Param("n"), GP64())
	Label("pause_l")
	PAUSE()
	DECQ(n)
	JNZ(LabelRef("pause_l"))
	RET()
}
