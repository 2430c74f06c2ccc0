package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scoresBytes is scores for n packed queries.
func scoresBytes(n int) {
	s, name := avx512, fmt.Sprintf("scores%dInt8AVX512", n)
	fn(name, scoresInt8Type,
		fmt.Sprintf("%s writes the scores of %d queries with 32 positions, of which n count, and", name, n),
		"fetches a line of next for 4 dimensions. kPitch is that of 4 dimensions, kPitch and stateSize are in bytes.")
	q, tails := packedRows(n)
	k, next, pitch := Load(Param("k"), GP64()), Load(Param("next"), GP64()), Load(Param("kPitch"), GP64())
	d := Load(Param("dim"), GP64())
	lowBase := GP64()
	LEAQ(Mem{Base: q.base[0], Index: d, Scale: 1}, lowBase)
	low := rowsFrom(lowBase, q.stride, n)
	high := func(r, c int) reg.VecPhysical { return s.v(4*r + c) }
	for r := range n {
		for c := range 2 {
			VPBROADCASTD(tails.at(r, tailHigh), high(r, c))
			VPBROADCASTD(tails.at(r, tailLow), high(r, c+2))
		}
	}
	key, half := 4*n, 4*n+2
	Label(name + "_dim")
	prefetch(next, 1)
	for c := range 2 {
		VMOVUPS(mem(k, 64*c), s.v(key+c))
	}
	for r := range n {
		VPBROADCASTD(q.at(r, 0), s.v(half+2*r))
		VPBROADCASTD(low.at(r, 0), s.v(half+2*r+1))
		for c := range 2 {
			dot(s.v(half+2*r), s.v(key+c), high(r, c))
			dot(s.v(half+2*r+1), s.v(key+c), high(r, c+2))
		}
	}
	q.advance(4)
	low.advance(4)
	ADDQ(pitch, k)
	SUBQ(Imm(4), d)
	JNZ(LabelRef(name + "_dim"))
	seenMasks(Load(Param("n"), GP64()))
	scales, state := Load(Param("kScales"), GP64()), GP64()
	for c := range 2 {
		VMOVUPS_Z(mem(scales, 64*c), []reg.OpmaskPhysical{reg.K1, reg.K2}[c], s.v(key+c))
	}
	Load(Param("states"), state)
	size := Load(Param("stateSize"), GP64())
	scale, t := s.v(half), s.v(half+1)
	for r := range n {
		VBROADCASTSS(tails.at(r, tailScale), scale)
		for c := range 2 {
			VPSLLD(Imm(7), high(r, c), high(r, c))
			VPADDD(high(r, c+2), high(r, c), high(r, c))
			VCVTDQ2PS(high(r, c), high(r, c))
			VMULPS(s.v(key+c), scale, t)
			VMULPS(t, high(r, c), t)
			VMOVUPS(t, mem(state, stateP+64*c))
		}
		ADDQ(size, state)
	}
	end()
}

// weightedBytes is weighted for n queries, whose weights become 32 high and 32 low bytes
// on the stack.
func weightedBytes(n int) {
	s, name := avx512, fmt.Sprintf("weighted%dInt8AVX512", n)
	fn(name, weightedInt8Type,
		fmt.Sprintf("%s adds groups of 4 positions of V to the sums of %d queries, each of which", name, n),
		"sees its n, and fetches some of next. stateSize is in bytes.")
	weights, units := AllocLocal(2*tile*n), AllocLocal(16)
	state, seen, scales := GP64(), Load(Param("n"), GP64()), Load(Param("vScales"), GP64())
	Load(Param("states"), state)
	stride := Load(Param("stateSize"), GP64())
	states := rowsFrom(state, stride, n)
	weightConstants(s)
	for r := range n {
		count := GP64()
		MOVLQSX(mem(seen, 4*r), count)
		seenMasks(count)
		for c, k := range []reg.OpmaskPhysical{reg.K1, reg.K2} {
			VMOVUPS(states.at(r, stateP+64*c), s.v(c))
			VMULPS_Z(mem(scales, 64*c), s.v(c), k, s.v(c))
		}
		integerWeights(s, units.Offset(4*r))
		for c := range 2 {
			VPMOVDB(s.v(c), weights.Offset(2*tile*r+tile+16*c))
			VPSRLD(Imm(8), s.v(c), s.v(c))
			VPMOVDB(s.v(c), weights.Offset(2*tile*r+16*c))
		}
	}
	v, next, left := Load(Param("v"), GP64()), Load(Param("next"), GP64()), Load(Param("dim"), GP64())
	for vecs := 4; vecs > 0; vecs /= 2 {
		chunk := fmt.Sprintf("%s_chunk%d", name, vecs)
		Label(chunk)
		CMPQ(left, I32(int32(16*vecs)))
		JLT(LabelRef(chunk + "_end"))
		weightedBytesChunk(s, n, vecs, chunk, states, weights, units, v, next)
		states.advance(64 * vecs)
		addq(64*vecs, v)
		SUBQ(I32(int32(16*vecs)), left)
		JMP(LabelRef(chunk))
		Label(chunk + "_end")
	}
	end()
}

func weightedBytesChunk(s isa, n, vecs int, chunk string, states rows, weights, units Mem, v, next reg.Register) {
	high := func(r, c int) reg.VecPhysical { return s.v(2*vecs*r + c) }
	for i := range 2 * vecs * n {
		s.zero(i)
	}
	value, half := 2*vecs*n, 2*vecs*n+vecs
	row, pitch := GP64(), Load(Param("dim"), GP64())
	MOVQ(v, row)
	SHLQ(Imm(2), pitch)
	count, w := Load(Param("groups"), GP64()), GP64()
	LEAQ(weights, w)
	Label(chunk + "_group")
	prefetch(next, linesBesideV(16*vecs, n))
	for c := range vecs {
		VMOVUPS(mem(row, 64*c), s.v(value+c))
	}
	for r := range n {
		a, b := s.v(half+2*r%4), s.v(half+2*r%4+1)
		VPBROADCASTD(mem(w, 2*tile*r), a)
		VPBROADCASTD(mem(w, 2*tile*r+tile), b)
		for c := range vecs {
			dot(s.v(value+c), a, high(r, c))
			dot(s.v(value+c), b, high(r, c+vecs))
		}
	}
	addq(4, w)
	ADDQ(pitch, row)
	DECQ(count)
	JNZ(LabelRef(chunk + "_group"))
	unit, t := s.v(half), s.v(half+1)
	for r := range n {
		VBROADCASTSS(units.Offset(4*r), unit)
		for c := range vecs {
			VPSLLD(Imm(8), high(r, c), high(r, c))
			VPADDD(high(r, c+vecs), high(r, c), high(r, c))
			VCVTDQ2PS(high(r, c), high(r, c))
			VMOVUPS(states.at(r, stateOut+64*c), t)
			VFMADD231PS(high(r, c), unit, t)
			VMOVUPS(t, states.at(r, stateOut+64*c))
		}
	}
}
