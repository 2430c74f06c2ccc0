package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// c8Group is how many blocks of 32 k share a scale of the row; 8 rows lie side by side.
const c8Group = 8

// c8Part walks over the groups of 8 rows: x is at 4 k of each, tail behind the group's.
type c8Part struct{ blocks, left, tail reg.Register }

// next begins a group: left is how many blocks it has.
func (p c8Part) next(x reg.Register) {
	MOVQ(I32(c8Group), p.left)
	CMPQ(p.blocks, p.left)
	CMOVQLT(p.blocks, p.left)
	SUBQ(p.left, p.blocks)
	MOVQ(p.left, p.tail)
	SHLQ(Imm(8), p.tail)
	ADDQ(x, p.tail)
}

// gemmC8512 multiplies rows, 8 at a time, with a panel. The float sums of 8 are in the
// frame.
func gemmC8512() {
	const name = "gemmC8AVX512"
	TEXT(name, 0, "func(w, x *byte, out *float32, blocks, rows, outStride, ahead, step int64)")
	Pragma("noescape")
	Doc(name+" multiplies rows with a panel. outStride is in bytes. From ahead",
		"bytes behind w on it fetches memory, step bytes for 4 k of 8 rows.")
	z := avx512.v
	sums := frame(8 * 4 * panel)
	w, x, next := GP64(), Load(Param("x"), GP64()), Load(Param("ahead"), GP64())
	ADDQ(Load(Param("w"), w), next)
	step := Load(Param("step"), GP64())
	out, rows := Load(Param("out"), GP64()), Load(Param("rows"), GP64())
	part := c8Part{GP64(), GP64(), GP64()}
	Label(name + "_eight")
	Load(Param("w"), w)
	Load(Param("blocks"), part.blocks)
	avx512.zero(0)
	for i := range 16 {
		VMOVUPS(z(0), mem(sums, 64*i))
	}
	Label(name + "_group")
	part.next(x)
	for i := range 16 {
		VPBROADCASTD(mem(part.tail, 32+i/2*4), z(i))
	}
	Label(name + "_block")
	for j := range 8 {
		PREFETCHT1(mem(next, 0))
		ADDQ(step, next)
		for c := range 2 {
			VMOVDQU64(mem(w, 128*j+64*c), z(16+j%2*2+c))
		}
		for r := range 8 {
			b := z(20 + (8*j+r)%12)
			VPBROADCASTD(mem(x, 32*j+4*r), b)
			for c := range 2 {
				dot(b, z(16+j%2*2+c), z(2*r+c))
			}
		}
	}
	addq(1024, w)
	addq(256, x)
	DECQ(part.left)
	JNZ(LabelRef(name + "_block"))
	for i := range 16 {
		if i%2 == 0 {
			VBROADCASTSS(mem(part.tail, i/2*4), z(16+i/2))
		}
		VCVTDQ2PS(z(i), z(i))
		VFMADD213PS(mem(sums, 64*i), z(16+i/2), z(i))
		VMOVUPS(z(i), mem(sums, 64*i))
	}
	LEAQ(mem(part.tail, 64), x)
	CMPQ(part.blocks, Imm(0))
	JNE(LabelRef(name + "_group"))
	c8Columns(name, w, sums, out, rows, part.left)
	CMPQ(rows, Imm(0))
	JNE(LabelRef(name + "_eight"))
	end()
}

// c8Columns multiplies the sums of up to 8 of the rows left with the columns' scales,
// behind the panel at w.
func c8Columns(name string, w, sums, out, rows, left reg.Register) {
	z := avx512.v
	at, stride := GP64(), Load(Param("outStride"), GP64())
	MOVQ(I32(8), left)
	CMPQ(rows, left)
	CMOVQLT(rows, left)
	SUBQ(left, rows)
	MOVQ(sums, at)
	for c := range 2 {
		VMOVUPS(mem(w, 64*c), z(c))
	}
	Label(name + "_row")
	for c := range 2 {
		VMULPS(mem(at, 64*c), z(c), z(2+c))
		VMOVUPS(z(2+c), mem(out, 64*c))
	}
	addq(4*panel, at)
	ADDQ(stride, out)
	DECQ(left)
	JNZ(LabelRef(name + "_row"))
}

// rowC8512 multiplies one row with panels. Sums of integers are exact, and so four chains
// for 16 columns may be added in the end.
func rowC8512() {
	const name = "rowC8AVX512"
	fn(name, "func(w, x *byte, out *float32, blocks, panels int64)",
		name+" multiplies a packed row, the first of 8, with panels.")
	z := avx512.v
	w, out, panels := Load(Param("w"), GP64()), Load(Param("out"), GP64()), Load(Param("panels"), GP64())
	x := GP64()
	part := c8Part{GP64(), GP64(), GP64()}
	Label(name + "_panel")
	Load(Param("x"), x)
	Load(Param("blocks"), part.blocks)
	avx512.zero(8)
	avx512.zero(9)
	Label(name + "_group")
	part.next(x)
	for i := range 8 {
		avx512.zero(i)
	}
	for c := range 2 {
		VPBROADCASTD(mem(part.tail, 32), z(c))
	}
	Label(name + "_block")
	for j := range 8 {
		for c := range 2 {
			PREFETCHT0(mem(w, 4096+128*j+64*c))
			b := z(16 + (2*j+c)%8)
			VMOVDQU64(mem(w, 128*j+64*c), b)
			dotBroadcast(mem(x, 32*j), b, z(j%4*2+c))
		}
	}
	addq(1024, w)
	addq(256, x)
	DECQ(part.left)
	JNZ(LabelRef(name + "_block"))
	VBROADCASTSS(mem(part.tail, 0), z(16))
	for c := range 2 {
		VPADDD(z(2+c), z(c), z(c))
		VPADDD(z(6+c), z(4+c), z(4+c))
		VPADDD(z(4+c), z(c), z(c))
		VCVTDQ2PS(z(c), z(c))
		VFMADD231PS(z(16), z(c), z(8+c))
	}
	LEAQ(mem(part.tail, 64), x)
	CMPQ(part.blocks, Imm(0))
	JNE(LabelRef(name + "_group"))
	for c := range 2 {
		VMULPS(mem(w, 64*c), z(8+c), z(8+c))
		VMOVUPS(z(8+c), mem(out, 64*c))
	}
	addq(4*panel, w)
	addq(4*panel, out)
	DECQ(panels)
	JNZ(LabelRef(name + "_panel"))
	end()
}

// gemmC82 multiplies up to 8 rows with a panel, 16 columns at a time.
func gemmC82() {
	const name = "gemmC8AVX2"
	fn(name, "func(w, x *byte, out *float32, blocks, rows, outStride int64)",
		name+" multiplies 1 to 8 rows with a panel. outStride is in bytes.")
	out := stridedRows{Load(Param("out"), GP64()), GP64(), Load(Param("outStride"), GP64())}
	rows, skip := Load(Param("rows"), GP64()), GP64()
	XORQ(skip, skip)
	packing{bits: 8}.constants2()
	for _, n := range passRows2 {
		pass := fmt.Sprintf("%s_%d", name, n)
		Label(pass)
		CMPQ(rows, U8(n))
		JLT(LabelRef(pass + "_less"))
		out.begin()
		clear2(n, out)
		for half := range 2 {
			passC82(fmt.Sprintf("%s_%d", pass, half), n, half, skip, out)
		}
		for range n {
			ADDQ(out.stride, out.first)
		}
		addq(4*n, skip)
		SUBQ(Imm(uint64(n)), rows)
		JMP(LabelRef(pass))
		Label(pass + "_less")
	}
	end()
}

// passC82 multiplies n rows, skip bytes behind the first, with 16 columns.
func passC82(name string, n, half int, skip reg.Register, out stridedRows) {
	y := avx2.v
	w, x := Load(Param("w"), GP64()), Load(Param("x"), GP64())
	part := c8Part{Load(Param("blocks"), GP64()), GP64(), GP64()}
	ADDQ(skip, x)
	Label(name + "_group")
	part.next(x)
	for i := range 2 * n {
		avx2.zero(i)
	}
	Label(name + "_block")
	for j := range 8 {
		PREFETCHT0(mem(w, 4096+128*j))
		PREFETCHT0(mem(w, 4096+128*j+64))
		for i := range 2 {
			bytes2(mem(w, 128*j+64*half+32*i), n, i, func(r int) Mem { return mem(x, 32*j+4*r) })
		}
	}
	addq(1024, w)
	addq(256, x)
	DECQ(part.left)
	JNZ(LabelRef(name + "_block"))
	for r := range n {
		VBROADCASTSS(mem(part.tail, 4*r), y(reg2X))
		for i := range 2 {
			t, sum := y(2*r+i), out.at(r, 64*half+32*i)
			VCVTDQ2PS(t, t)
			VFMADD213PS(sum, y(reg2X), t)
			VMOVUPS(t, sum)
		}
	}
	LEAQ(mem(part.tail, 64), x)
	CMPQ(part.blocks, Imm(0))
	JNE(LabelRef(name + "_group"))
	for r := range n {
		for i := range 2 {
			t, sum := y(2*r+i), out.at(r, 64*half+32*i)
			VMULPS(mem(w, 64*half+32*i), t, t)
			VMOVUPS(t, sum)
		}
	}
}
