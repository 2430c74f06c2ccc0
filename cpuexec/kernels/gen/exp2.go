package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Places in the table of constants. exp2.go of package kernels has the same
// values for the plain twins.
const (
	cPoly     = iota // 6 coefficients, the constant one first
	cBias     = cPoly + 6
	cSoftLow  = cBias + 1
	cSiluLow  = cBias + 2
	cSiluHigh = cBias + 3
	cNegLog2e = cBias + 4
	cOne      = cBias + 5
	// of attention over bytes
	cAbs        = cBias + 6 // all bits but the sign
	cTiny       = cBias + 7
	cWeightTop  = cBias + 8
	cWeightUnit = cBias + 9
	// of what is stored
	cQueryTop   = cBias + 10
	cQueryUnit  = cBias + 11
	cByteTop    = cBias + 12
	cByteUnit   = cBias + 13
	cHalfByte   = cBias + 14 // integers from here
	cOneInteger = cBias + 15
	cRound      = cBias + 16 // half of a bf16's last place, less one
	cQuiet      = cBias + 17 // a bf16's bit of a NaN
	// of capped scores and logits
	cExpm2   = cBias + 18 // 6 coefficients, the constant one first
	cCapLow  = cExpm2 + 6
	cCapHigh = cExpm2 + 7
	cTwo     = cExpm2 + 8
	// of GELU
	cGELU      = cExpm2 + 9 // -2*log2(e)*sqrt(2/pi)
	cGELUCubic = cExpm2 + 10
)

// exp2Poly approximates 2^f on [-0.5, 0.5] with a relative error of 1.02e-7: a
// minimax polynomial of degree 5.
var exp2Poly = []float32{1.0000000754548972, 0.6931471880262287, 0.24022107485308267,
	0.05550357114219194, 0.009676031918324871, 0.0013390863364616103}

// expm2Poly approximates (2^f-1)/f on [-0.5, 0.5] with a relative error of 1.1e-8: a
// minimax polynomial of degree 5.
var expm2Poly = []float32{0.6931471879266905, 0.240226497949652, 0.05550357433635557,
	0.009618237493942737, 0.0013390735477923916, 0.0001540351269289168}

var table *Mem

// constant is entry i of the table.
func constant(i int) Mem {
	if table == nil {
		m := GLOBL("constants", RODATA|NOPTR)
		words := make([]uint32, 0, 24)
		for _, c := range exp2Poly {
			words = append(words, math.Float32bits(c))
		}
		words = append(words, 127) // an integer: the exponent's bias
		for _, c := range []float32{-64, -126, 126, -math.Log2E, 1} {
			words = append(words, math.Float32bits(c))
		}
		words = append(words, 0x7fffffff)
		for _, c := range []float32{1e-30, weightTop, 1.0 / weightTop, queryTop, 1.0 / queryTop, 127, 1.0 / 127} {
			words = append(words, math.Float32bits(c))
		}
		words = append(words, 64, 1, 0x7fff, 0x40)
		for _, c := range append(expm2Poly, -30, 30, 2, -2*math.Log2E*0.7978845608028654, 0.044715) {
			words = append(words, math.Float32bits(c))
		}
		for j, c := range words {
			// Not F32(c): avo 0.5.0 prints whole values as $(127), which the
			// assembler stores as an integer.
			DATA(4*j, U32(c))
		}
		table = &m
	}
	return table.Offset(4 * i)
}

// exp2 replaces the lanes of x by 2^x, for x from -126 to 127: x = n + f with
// |f| <= 0.5, a polynomial in f, and n put into the exponent. n and t are
// clobbered; low is the register that holds the lowest x to compute with, and a
// NaN stays one.
func (s isa) exp2(x, n, t, c reg.VecPhysical) {
	VCVTPS2DQ(x, n) // nearest, ties to even
	VCVTDQ2PS(n, t)
	VSUBPS(t, x, x)
	VBROADCASTSS(constant(cPoly+5), t)
	for i := 4; i >= 0; i-- {
		VBROADCASTSS(constant(cPoly+i), c)
		VFMADD213PS(c, x, t)
	}
	s.power(n, c)
	VMULPS(n, t, x)
}

// power replaces the integers n by 2^n in float32. c is clobbered.
func (s isa) power(n, c reg.VecPhysical) {
	VPBROADCASTD(constant(cBias), c)
	VPADDD(c, n, n)
	VPSLLD(Imm(23), n, n)
}

// expm2 replaces the lanes of x by 2^x-1, for x from -30 to 30, as exactly for small ones
// as for large: 2^n*(2^f-1) + 2^n-1. one holds ones; the others are exp2's.
func (s isa) expm2(x, n, t, c, one reg.VecPhysical) {
	VCVTPS2DQ(x, n) // nearest, ties to even
	VCVTDQ2PS(n, t)
	VSUBPS(t, x, x)
	VBROADCASTSS(constant(cExpm2+5), t)
	for i := 4; i >= 0; i-- {
		VBROADCASTSS(constant(cExpm2+i), c)
		VFMADD213PS(c, x, t)
	}
	VMULPS(t, x, x)
	s.power(n, c)
	VSUBPS(one, n, t)
	VFMADD213PS(t, n, x)
}
