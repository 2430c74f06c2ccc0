package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Masks that are broadcast, and what is multiplied with a scale where integers are 8 too
// large.
var (
	nibbleMask = &lanes16{name: "nibbleMask", words: [2]uint64{0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f}}
	minusEight = &lanes16{name: "minusEight", words: [2]uint64{0xc1000000c1000000, 0xc1000000c1000000}}
)

// unpackDots512 does dots512 with a block of less than 8 bits, which it unpacks into the
// frame, 4 k after 4 k.
func (p packing) unpackDots512(n int, from, to reg.Register, x stridedRows) {
	z := avx512.v
	p.unpackFactors512(from, to)
	for part := range p.parts() {
		p.starts512(n, part, x)
		mask := z(regX + 4)
		VPBROADCASTD(constants32(nibbleMask), mask)
		for _, v := range p.vectors(part) {
			for c := range 2 {
				low, high := z(regW+2*c), z(regW+2*c+1)
				p.nibbles512(from, c, v, mask, z(regX+2), low, high)
				VMOVDQA64(low, mem(to, 512*c+64*p.group(v, 0)))
				VMOVDQA64(high, mem(to, 512*c+64*p.group(v, 1)))
			}
			for nibble := range 2 {
				for r := range n {
					b := z(regX + 2 + r%2)
					VPBROADCASTD(x.at(r, 4*p.group(v, nibble)), b)
					for c := range 2 {
						dot(b, z(regW+2*c+nibble), z(2*r+c))
					}
				}
			}
		}
		p.scale512(n, part, to, x)
	}
}

// nibbles512 unpacks a vector of 16 columns of half c. Register t is clobbered.
func (p packing) nibbles512(from reg.Register, c, v int, mask, t, low, high reg.VecPhysical) {
	VMOVDQU64(mem(from, 256*c+64*v), low)
	VPSRLW(Imm(4), low, high)
	VPANDD(mask, low, low)
	VPANDD(mask, high, high)
	if p.bits == 4 {
		return
	}
	for nibble, w := range []reg.VecPhysical{low, high} {
		place, shift := p.high(c, p.group(v, nibble))
		switch bits := mem(from, place); {
		case shift > 0:
			VPSRLW(Imm(uint64(shift)), bits, t)
		case shift < 0:
			VPSLLW(Imm(uint64(-shift)), bits, t)
		default:
			VMOVDQU64(bits, t)
		}
		VPTERNLOGD_BCST(Imm(0xf8), p.highMask(), t, w) // w or (t and the mask)
	}
}

// unpackFactors512 writes what sums of all columns are multiplied with into the frame.
func (p packing) unpackFactors512(from, to reg.Register) {
	z := avx512.v
	by := heads{z(regX), z(regX + 1)}
	for c := range 2 {
		if p.head > 0 {
			p.heads512(Load(Param("w"), GP64()), c, by)
		}
		d, m := z(regW), z(regW+1)
		p.factors512(from, c, by, d, m)
		VMOVUPS(d, mem(to, 1024+64*c))
		VMOVUPS(m, mem(to, 1152+64*c))
	}
}

// heads512 widens what stands before 8 blocks.
func (p packing) heads512(w reg.Register, c int, to heads) {
	VCVTPH2PS(mem(w, 32*c), to.d)
	if p.minima() {
		VCVTPH2PS(mem(w, 64+32*c), to.m)
	}
}

// factors512 makes what sums of 16 columns of half c are multiplied with, and minima or the
// factors of the second part.
func (p packing) factors512(w reg.Register, c int, by heads, d, m reg.VecPhysical) {
	if p.head == 0 {
		VCVTPH2PS(mem(w, p.d+32*c), d)
		switch {
		case p.m > 0:
			VCVTPH2PS(mem(w, p.m+32*c), m)
		case p.minima():
			VMULPS_BCST(constants32(minusEight), d, m)
		}
		return
	}
	widen, second := VPMOVZXBD, by.m
	if p.parts() == 2 {
		widen, second = VPMOVSXBD, by.d
	}
	widen(mem(w, p.d+16*c), d)
	VCVTDQ2PS(d, d)
	VMULPS(by.d, d, d)
	widen(mem(w, p.m+16*c), m)
	VCVTDQ2PS(m, m)
	VMULPS(second, m, m)
}
