//go:build !noasm

package kernels

import "golang.org/x/sys/cpu"

var avx2 = &Set{
	Name:          "avx2",
	Gemm:          gemmBy(gemmAVX2),
	Attend:        attendAVX2.attend,
	GemmBF16:      gemmBF16By(gemmBF16AVX2),
	GemmMXFP4:     gemmMXFP4By(gemmMXFP4AVX2),
	Integers:      integersAVX2,
	Quantise:      quantiseAsm,
	QuantiseC8:    quantiseC8Asm,
	AttendBF16:    attendBF16AVX2.attend,
	AttendInt8:    attendInt8AVX2.attend,
	QuantiseQuery: quantiseQueryAsm,
	StoreBF16:     storeBF16Asm,
	StoreInt8:     storeInt8Asm,
	Best:          bestBy(aboveAVX2),
	Above:         aboveBy(firstAboveAVX2),
	AddTile:       addTileAsm,
	SiluTile:      gateBy(siluTileAVX2),
	GELUTile:      gateBy(geluTileAVX2),
	ClampedTile:   clampedBy(clampedTileAVX2),
	CapTile:       capBy(capTileAVX2),
	Norm:          normBy(scaleMulAVX2),
	Rope:          ropeAsm,
	Transpose:     transposeAsm,
	Read:          readBy(readAVX2, 256),
	MulAddF32:     mulAddF32By(mulAddF32AVX2),
	MulAddInt8:    mulAddInt8By(mulAddInt8AVX2),
}

var avx512 = &Set{
	Name:          "avx512",
	Gemm:          gemmBy(gemmAVX512),
	Attend:        attendAVX512.attend,
	GemmBF16:      gemmBF16By(gemmBF16AVX512),
	GemmMXFP4:     gemmMXFP4By(gemmMXFP4AVX512),
	Integers:      integersAVX512,
	Quantise:      quantiseAsm,
	QuantiseC8:    quantiseC8Asm,
	AttendBF16:    attendBF16AVX512.attend,
	AttendInt8:    attendInt8AVX512.attend,
	QuantiseQuery: quantiseQueryAsm,
	StoreBF16:     storeBF16Asm,
	StoreInt8:     storeInt8Asm,
	Best:          bestBy(aboveAVX512),
	Above:         aboveBy(firstAboveAVX512),
	Weigh:         weighAsm,
	AddTile:       addTileAsm,
	SiluTile:      gateBy(siluTileAVX512),
	GELUTile:      gateBy(geluTileAVX512),
	ClampedTile:   clampedBy(clampedTileAVX512),
	CapTile:       capBy(capTileAVX512),
	Norm:          normBy(scaleMulAVX512),
	Rope:          ropeAsm,
	Transpose:     transposeAsm,
	Read:          readBy(readAVX512, 512),
	MulAddF32:     mulAddF32By(mulAddF32AVX512),
	MulAddInt8:    mulAddInt8By(mulAddInt8AVX512),
}

// avx512Older is avx512 on a CPU without VNNI: products of integers are those of AVX2.
var avx512Older = func(s Set) *Set {
	s.Integers, s.AttendInt8, s.MulAddInt8 = avx2.Integers, avx2.AttendInt8, avx2.MulAddInt8
	return &s
}(*avx512)

// native lists the assembly Sets that this CPU and its system can run. Halves are widened
// by F16C, which has no flag in package cpu: whatever has AVX2 has it.
func native() []*Set {
	var l []*Set
	x := &cpu.X86
	if x.HasAVX2 && x.HasFMA {
		if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasBMI2 {
			if x.HasAVX512VNNI {
				l = append(l, avx512)
			} else {
				l = append(l, avx512Older)
			}
		}
		l = append(l, avx2)
	}
	return l
}

func transposeAsm(x, w []float32, k, xStride int) {
	n := k &^ 7
	_ = x[(Panel-1)*xStride+k-1] // the assembly trusts these
	_ = w[k*Panel-1]
	for c := 0; c < Panel && n > 0; c += 8 {
		transpose(&x[c*xStride], &w[c], int64(n/8), int64(4*xStride))
	}
	transposeGo(x[n:], w[n*Panel:], k-n, xStride)
}

// Pause tells the CPU that this thread spins.
func Pause() { pause(1) }
