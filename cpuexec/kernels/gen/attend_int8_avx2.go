package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Registers of the products by 16-bit numbers, behind 4 sums for each of 2 queries.
const (
	wEven = 8 + iota // the first and the third of each 4 bytes
	wOdd             // the second and the fourth
	wT
	wFactors // of each query those for the even, then those for the odd bytes
)

// products adds the products of the 4 bytes in each lane, which are in wEven and wOdd,
// and the factors of query r to a sum.
func products(r int, sum reg.VecPhysical) {
	for i := range 2 {
		VPMADDWD(avx2.v(wEven+i), avx2.v(wFactors+2*r+i), avx2.v(wT))
		VPADDD(avx2.v(wT), sum, sum)
	}
}

// scoresWords is scores for n packed queries, of which it reads the 16-bit numbers.
func scoresWords(n int) {
	s, name := avx2, fmt.Sprintf("scores%dInt8AVX2", n)
	fn(name, scoresInt8Type,
		fmt.Sprintf("%s writes the scores of %d queries with 32 positions, of which n count, and", name, n),
		"fetches a line of next for 4 dimensions. kPitch is that of 4 dimensions, kPitch and stateSize are in bytes.")
	q, tails := packedRows(n)
	k, next, pitch := Load(Param("k"), GP64()), Load(Param("next"), GP64()), Load(Param("kPitch"), GP64())
	d := Load(Param("dim"), GP64())
	wordBase := GP64()
	LEAQ(Mem{Base: q.base[0], Index: d, Scale: 2}, wordBase)
	words := rowsFrom(wordBase, q.stride, n)
	for r := range n {
		for c := range 4 {
			VPBROADCASTD(tails.at(r, tailSum), s.v(4*r+c))
		}
	}
	Label(name + "_dim")
	prefetch(next, 1)
	for r := range n {
		for i := range 2 {
			VPBROADCASTD(words.at(r, 4*i), s.v(wFactors+2*r+i))
		}
	}
	for c := range 4 {
		VMOVUPS(mem(k, 32*c), s.v(wOdd))
		VPAND(constants32(lowBytes), s.v(wOdd), s.v(wEven))
		VPSRLW(Imm(8), s.v(wOdd), s.v(wOdd))
		for r := range n {
			products(r, s.v(4*r+c))
		}
	}
	words.advance(8)
	ADDQ(pitch, k)
	SUBQ(Imm(4), d)
	JNZ(LabelRef(name + "_dim"))
	mask := seenMask(Load(Param("n"), GP64()))
	scales, state := Load(Param("kScales"), GP64()), GP64()
	Load(Param("states"), state)
	size := Load(Param("stateSize"), GP64())
	factor, t := s.v(wEven), s.v(wT)
	for r := range n {
		VBROADCASTSS(tails.at(r, tailScale), factor)
		for c := range 4 {
			VMOVUPS(mask(c), t)
			VMASKMOVPS(mem(scales, 32*c), t, t)
			VMULPS(t, factor, t)
			VCVTDQ2PS(s.v(4*r+c), s.v(4*r+c))
			VMULPS(t, s.v(4*r+c), t)
			VMOVUPS(t, mem(state, stateP+32*c))
		}
		ADDQ(size, state)
	}
	end()
}

// weightedWords is weighted for n queries, whose weights become 32 words on the stack, of
// each 4 the first, the third, the second and the fourth.
func weightedWords(n int) {
	s, name := avx2, fmt.Sprintf("weighted%dInt8AVX2", n)
	fn(name, weightedInt8Type,
		fmt.Sprintf("%s adds groups of 4 positions of V to the sums of %d queries, each of which", name, n),
		"sees its n, and fetches some of next. stateSize is in bytes.")
	weights, units := AllocLocal(2*tile*n), AllocLocal(8)
	state, seen, scales := GP64(), Load(Param("n"), GP64()), Load(Param("vScales"), GP64())
	Load(Param("states"), state)
	stride := Load(Param("stateSize"), GP64())
	states := rowsFrom(state, stride, n)
	weightConstants(s)
	for r := range n {
		count := GP64()
		MOVLQSX(mem(seen, 4*r), count)
		mask := seenMask(count)
		for c := range 4 {
			VMOVUPS(mask(c), s.v(iT))
			VMASKMOVPS(mem(scales, 32*c), s.v(iT), s.v(c))
			VMULPS(states.at(r, stateP+32*c), s.v(c), s.v(c))
		}
		integerWeights(s, units.Offset(4*r))
		for c := range 2 {
			evenOdd(s.v(2*c), s.v(2*c+1))
			VMOVUPS(s.v(2*c), weights.Offset(2*tile*r+tile*c))
		}
	}
	v, next, left := Load(Param("v"), GP64()), Load(Param("next"), GP64()), Load(Param("dim"), GP64())
	for vecs := 4; vecs > 1; vecs /= 2 {
		chunk := fmt.Sprintf("%s_chunk%d", name, vecs)
		Label(chunk)
		CMPQ(left, I32(int32(8*vecs)))
		JLT(LabelRef(chunk + "_end"))
		weightedWordsChunk(s, n, vecs, chunk, states, weights, units, v, next)
		states.advance(32 * vecs)
		addq(32*vecs, v)
		SUBQ(I32(int32(8*vecs)), left)
		JMP(LabelRef(chunk))
		Label(chunk + "_end")
	}
	end()
}

func weightedWordsChunk(s isa, n, vecs int, chunk string, states rows, weights, units Mem, v, next reg.Register) {
	for i := range vecs * n {
		s.zero(i)
	}
	row, pitch := GP64(), Load(Param("dim"), GP64())
	MOVQ(v, row)
	SHLQ(Imm(2), pitch)
	count, w := Load(Param("groups"), GP64()), GP64()
	LEAQ(weights, w)
	Label(chunk + "_group")
	prefetch(next, linesBesideV(8*vecs, n))
	for r := range n {
		for i := range 2 {
			VPBROADCASTD(mem(w, 2*tile*r+4*i), s.v(wFactors+2*r+i))
		}
	}
	for c := range vecs {
		VMOVUPS(mem(row, 32*c), s.v(wOdd))
		VPSLLW(Imm(8), s.v(wOdd), s.v(wEven))
		VPSRAW(Imm(8), s.v(wEven), s.v(wEven))
		VPSRAW(Imm(8), s.v(wOdd), s.v(wOdd))
		for r := range n {
			products(r, s.v(vecs*r+c))
		}
	}
	addq(8, w)
	ADDQ(pitch, row)
	DECQ(count)
	JNZ(LabelRef(chunk + "_group"))
	unit, t := s.v(wEven), s.v(wT)
	for r := range n {
		VBROADCASTSS(units.Offset(4*r), unit)
		for c := range vecs {
			VCVTDQ2PS(s.v(vecs*r+c), s.v(vecs*r+c))
			VMOVUPS(states.at(r, stateOut+32*c), t)
			VFMADD231PS(s.v(vecs*r+c), unit, t)
			VMOVUPS(t, states.at(r, stateOut+32*c))
		}
	}
}

// evenOdd packs 16 integers as words, of each 4 the first, the third, the second and the
// fourth; they are left in a.
func evenOdd(a, b reg.VecPhysical) {
	VPACKSSDW(b, a, a)
	VPERMQ(Imm(0xd8), a, a)
	VPSHUFB(constants32(evenOddWords), a, a)
}
