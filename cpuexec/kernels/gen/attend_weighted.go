package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weighted adds V of a tile, weighted for each of rows queries, to their states, in chunks
// of dimensions whose sums stay in registers.
func weighted(s isa, e element, n int) {
	name := fmt.Sprintf("weighted%d%s%s", n, e.name, s.name)
	fn(name, fmt.Sprintf("func(p *float32, v, next *%s, out *float32, n, stateSize, dim int64)", e.typ),
		fmt.Sprintf("%s adds n positions of V to the sums of %d queries, p being their weights, and", name, n),
		"fetches as much of next as it reads of V. stateSize is in bytes.")
	firstP, firstOut := GP64(), GP64()
	Load(Param("p"), firstP)
	Load(Param("out"), firstOut)
	stride := Load(Param("stateSize"), GP64())
	p, out := rowsFrom(firstP, stride, n), rowsFrom(firstOut, stride, n)
	v, next := Load(Param("v"), GP64()), Load(Param("next"), GP64())
	left := Load(Param("dim"), GP64())
	for vecs := 4; vecs*s.lanes >= 16; vecs /= 2 {
		chunk := fmt.Sprintf("%s_chunk%d", name, vecs)
		Label(chunk)
		CMPQ(left, I32(int32(vecs*s.lanes)))
		JLT(LabelRef(chunk + "_end"))
		weightedChunk(s, e, n, vecs, chunk, p, out, v, next)
		out.advance(vecs * s.bytes())
		addq(vecs*s.lanes*e.size, v)
		SUBQ(I32(int32(vecs*s.lanes)), left)
		JMP(LabelRef(chunk))
		Label(chunk + "_end")
	}
	end()
}

func weightedChunk(s isa, e element, n, vecs int, chunk string, p, out rows, v, next reg.Register) {
	for r := range n {
		for c := range vecs {
			VMOVUPS(out.at(r, c*s.bytes()), s.v(r*vecs+c))
		}
	}
	weight, value := n*vecs, n*vecs+n
	row, pitch := GP64(), Load(Param("dim"), GP64())
	MOVQ(v, row)
	IMUL3Q(Imm(uint64(e.size)), pitch, pitch)
	count, weights := Load(Param("n"), GP64()), p.copied()
	Label(chunk + "_position")
	prefetch(next, max(1, vecs*s.lanes*e.size/64))
	for r := range n {
		VBROADCASTSS(weights.at(r, 0), s.v(weight+r))
	}
	for c := range vecs {
		to := s.v(value + c%s.spare(value))
		s.load(e, mem(row, 0), c, to)
		for r := range n {
			VFMADD231PS(to, s.v(weight+r), s.v(r*vecs+c))
		}
	}
	weights.advance(4)
	ADDQ(pitch, row)
	DECQ(count)
	JNZ(LabelRef(chunk + "_position"))
	for r := range n {
		for c := range vecs {
			VMOVUPS(s.v(r*vecs+c), out.at(r, c*s.bytes()))
		}
	}
}
