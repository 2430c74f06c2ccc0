package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nibbleMask is the low nibbles of 4 bytes.
var nibbleMask *Mem

// unpackDots512 does dots512 with a block of 4 bits, which it unpacks into the frame: low
// nibbles are the first 16 k, high ones the last.
func (p packing) unpackDots512(n int, from, to reg.Register, x stridedRows) {
	if nibbleMask == nil {
		m := GLOBL("nibbleMask", RODATA|NOPTR)
		DATA(0, U32(0x0f0f0f0f))
		nibbleMask = &m
	}
	z := avx512.v
	mask := z(regX + 4)
	for i := range 4 {
		t := z(regX)
		VCVTPH2PS(mem(from, p.d+32*i), t)
		VMOVUPS(t, mem(to, 1024+64*i))
	}
	VPBROADCASTD(*nibbleMask, mask)
	for j := range 4 {
		for c := range 2 {
			low, high, at := z(regW+2*c), z(regW+2*c+1), 512*c+64*j
			VMOVDQU64(mem(from, 256*c+64*j), low)
			VPSRLW(Imm(4), low, high)
			VPANDD(mask, low, low)
			VPANDD(mask, high, high)
			VMOVDQA64(low, mem(to, at))
			VMOVDQA64(high, mem(to, at+256))
		}
		for half := range 2 {
			for r := range n {
				b := z(regX + 2 + r%2)
				VPBROADCASTD(x.at(r, 4*j+16*half), b)
				for c := range 2 {
					sum := z(2*r + c)
					if j == 0 && half == 0 {
						VMOVDQA64(z(regMagic), sum)
					}
					dot(b, z(regW+2*c+half), sum)
				}
			}
		}
	}
}
