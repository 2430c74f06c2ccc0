package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What package sampling has of the same names.
const (
	expSteps   = 1 << 8
	negligible = -60
	toWhole    = 3 << 51
	expC1      = math.Ln2 / expSteps
)

// Registers of weighLogits: the sum, then constants as far as wC3, then tables of 16 powers, each
// in two registers.
const (
	wSum    = 8 + iota
	wBest              //
	wFactor            //
	wWhole             // added to a number, leaves its whole part in the lowest bits
	wLowest            // the bits of what is negligible and that added
	wC1                // coefficients of the polynomial
	wC2                //
	wC3                //
	wLow               // of 1/256 octave
	wHigh   = wLow + 2 // of 1/16 octave
	wRegs   = wHigh + 2
)

// weighConstants are the registers from wWhole on, as bits; of the constants before the
// tables one lane of each.
func weighConstants() (bits []uint64) {
	for _, c := range []float64{toWhole, toWhole + math.Floor(negligible*expSteps*math.Log2E), expC1, expC1 * expC1 / 2, expC1 * expC1 * expC1 / 6} {
		bits = append(bits, math.Float64bits(c))
	}
	for _, steps := range []int{expSteps, 16} {
		for i := range 16 {
			bits = append(bits, math.Float64bits(power(i, steps)))
		}
	}
	return bits
}

// power is 2^(i/n), n being a power of 2: a product of roots of 2.
func power(i, n int) float64 {
	power, root := 1.0, 2.0
	for bit := n / 2; bit > 0; bit /= 2 {
		if root = math.Sqrt(root); i&bit != 0 {
			power *= root
		}
	}
	return power
}

// weighLogits is package sampling's, in 8 lanes of float64, without fused operations: its plain
// form has none. There is none for AVX2, which has no tables in registers.
func weighLogits() {
	fn("weighLogits", "func(logits *float32, out *float64, n8 int64, best, factor float64) float64",
		"weighLogits writes 2^((logit-best)*factor/256) of n8*8 logits, 0 where that is below e^-60,",
		"and adds them up.")
	x, out := Load(Param("logits"), GP64()), Load(Param("out"), GP64())
	n := Load(Param("n8"), GP64())
	z := avx512.v
	for i, name := range []string{"best", "factor"} {
		VBROADCASTSD(at(Param(name)), z(wBest+i))
	}
	table := GLOBL("weighConstants", RODATA|NOPTR)
	offset := 0
	for i, bits := range weighConstants() {
		DATA(8*i, U64(bits))
	}
	for r := wWhole; r < wLow; r++ {
		VBROADCASTSD(table.Offset(offset), z(r))
		offset += 8
	}
	for r := wLow; r < wRegs; r++ {
		VMOVUPD(table.Offset(offset), z(r))
		offset += 64
	}
	avx512.zero(wSum)
	Label("weighLogits_l")
	weighEight(x, out)
	addq(32, x)
	addq(64, out)
	DECQ(n)
	JNZ(LabelRef("weighLogits_l"))
	foldDoubles(wSum, 0)
	VMOVSD(z(wSum).AsX(), at(ReturnIndex(0)))
	end()
}

// weighEight does 8 of them.
func weighEight(x, out reg.Register) {
	z := avx512.v
	t, whole, high, power, w := z(0), z(1), z(2), z(3), z(4)
	VCVTPS2PD(mem(x, 0), t)
	VSUBPD(z(wBest), t, t)
	VMULPD(z(wFactor), t, t)
	VADDPD(z(wWhole), t, whole)
	VMOVDQU64(whole, power)
	VPERMI2PD(z(wLow+1), z(wLow), power)
	VPSRLQ(Imm(4), whole, high)
	VPERMI2PD(z(wHigh+1), z(wHigh), high)
	VMULPD(high, power, power)
	VPSRLQ(Imm(8), whole, w)
	VPSLLQ(Imm(52), w, w)
	VPADDQ(w, power, power)
	VSUBPD(z(wWhole), whole, w)
	VSUBPD(w, t, t)
	VMULPD(z(wC3), t, w)
	for _, c := range []int{wC2, wC1} {
		VADDPD(z(c), w, w)
		VMULPD(t, w, w)
	}
	VMULPD(power, w, w)
	const notLess = 5
	VPCMPQ(Imm(notLess), z(wLowest), whole, reg.K1)
	VADDPD_Z(power, w, reg.K1, w)
	VMOVUPD(w, mem(out, 0))
	VADDPD(w, z(wSum), z(wSum))
}

// foldDoubles reduces the 8 lanes of register Z(i) to lane 0: j and j+4, then j+2, then
// j+1. Register t is clobbered.
func foldDoubles(i, t int) {
	y, x, u := avx2.v(i), avx2.v(i).AsX(), avx2.v(t).AsX()
	VEXTRACTF64X4(Imm(1), avx512.v(i), avx2.v(t))
	VADDPD(avx2.v(t), y, y)
	VEXTRACTF128(Imm(1), y, u)
	VADDPD(u, x, x)
	VUNPCKHPD(x, x, u)
	VADDPD(u, x, x)
}
