package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// scores multiplies n queries with K of a tile.
func scores(s isa, e element, n int) {
	name := fmt.Sprintf("scores%d%s%s", n, e.name, s.name)
	fn(name, fmt.Sprintf("func(q *float32, k, next *%s, states *float32, kPitch, stateSize, dim int64)", e.typ),
		fmt.Sprintf("%s writes the scores of %d queries with 32 positions to their states, and", name, n),
		"fetches as much of next as it reads of K. kPitch and stateSize are in bytes.")
	k, next := Load(Param("k"), GP64()), Load(Param("next"), GP64())
	pitch, d := Load(Param("kPitch"), GP64()), Load(Param("dim"), GP64())
	first, stride := GP64(), GP64()
	Load(Param("q"), first)
	LEAQ(Mem{Base: d, Index: d, Scale: 1}, stride)
	ADDQ(stride, stride)
	q := rowsFrom(first, stride, n)
	vecs := tile / s.lanes
	value, key := n*vecs, n*vecs+n
	for i := range n * vecs {
		s.zero(i)
	}
	Label(name + "_dim")
	prefetch(next, tile*e.size/64)
	for r := range n {
		VBROADCASTSS(q.at(r, 0), s.v(value+r))
	}
	for c := range vecs {
		to := s.v(key + c%s.spare(key))
		s.load(e, mem(k, 0), c, to)
		for r := range n {
			VFMADD231PS(to, s.v(value+r), s.v(r*vecs+c))
		}
	}
	q.advance(4)
	ADDQ(pitch, k)
	DECQ(d)
	JNZ(LabelRef(name + "_dim"))
	state := GP64()
	Load(Param("states"), state)
	Load(Param("stateSize"), stride)
	for r := range n {
		for c := range vecs {
			VMOVUPS(s.v(r*vecs+c), mem(state, stateP+c*s.bytes()))
		}
		if r < n-1 {
			ADDQ(stride, state)
		}
	}
	end()
}

// spare is how many registers there are from one on, 4 at most.
func (s isa) spare(from int) int { return min(4, len(s.regs)-from) }
