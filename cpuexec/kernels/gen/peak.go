package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// dotPeak is what dot products can reach: nothing but them, in enough chains to hide
// what each takes.
func dotPeak() {
	fn("dotPeakAVX512", "func(n int64)", "dotPeakAVX512 does n*6400 products of bytes, 100*n instructions VPDPBUSD.")
	n := Load(Param("n"), GP64())
	for i := range 32 {
		avx512.zero(i)
	}
	Label("dotPeak_l")
	for i := range 100 {
		dot(avx512.v(30), avx512.v(31), avx512.v(i%20))
	}
	DECQ(n)
	JNZ(LabelRef("dotPeak_l"))
	end()
}
