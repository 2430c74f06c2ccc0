//go:build !noasm

package kernels

import "golang.org/x/sys/cpu"

var avx2 = &Set{
	Name:          "avx2",
	Gemm:          gemmBy(gemmAVX2),
	Attend:        attendBy(attendAVX2),
	GemmBF16:      gemmBF16By(gemmBF16AVX2),
	GemmQ8:        gemmQ8Go,
	GemmQ4:        gemmQ4Go,
	GemmC8:        gemmC8Go,
	Quantise:      quantiseGo,
	QuantiseC8:    quantiseC8Go,
	AttendBF16:    attendBF16Go,
	AttendInt8:    attendInt8Go,
	QuantiseQuery: quantiseQueryGo,
	StoreBF16:     storeBF16Go,
	StoreInt8:     storeInt8Go,
	Best:          bestBy(aboveAVX2),
	Above:         aboveBy(firstAboveAVX2),
	AddTile:       addTileAsm,
	SiluTile:      siluTileBy(siluTileAVX2),
	Norm:          normBy(scaleMulAVX2),
	Rope:          ropeAsm,
	Transpose:     transposeAsm,
}

var avx512 = &Set{
	Name:          "avx512",
	Gemm:          gemmBy(gemmAVX512),
	Attend:        attendBy(attendAVX512),
	GemmBF16:      gemmBF16By(gemmBF16AVX512),
	GemmQ8:        gemmQ8Go,
	GemmQ4:        gemmQ4Go,
	GemmC8:        gemmC8Go,
	Quantise:      quantiseGo,
	QuantiseC8:    quantiseC8Go,
	AttendBF16:    attendBF16Go,
	AttendInt8:    attendInt8Go,
	QuantiseQuery: quantiseQueryGo,
	StoreBF16:     storeBF16Go,
	StoreInt8:     storeInt8Go,
	Best:          bestBy(aboveAVX512),
	Above:         aboveBy(firstAboveAVX512),
	Weigh:         weighAsm,
	AddTile:       addTileAsm,
	SiluTile:      siluTileBy(siluTileAVX512),
	Norm:          normBy(scaleMulAVX512),
	Rope:          ropeAsm,
	Transpose:     transposeAsm,
}

// native lists the assembly Sets that this CPU and its system can run.
func native() []*Set {
	var l []*Set
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		if cpu.X86.HasAVX512F {
			l = append(l, avx512)
		}
		l = append(l, avx2)
	}
	return l
}

// attendBy serves any number of queries, one after the other.
func attendBy(run func(q, k, v, state *float32, kPitch, n, dim int64)) func(q, k, v, states []float32, kPitch int, n []int32, dim int) {
	return func(q, k, v, states []float32, kPitch int, n []int32, dim int) {
		if dim%lanes != 0 {
			attendGo(q, k, v, states, kPitch, n, dim)
			return
		}
		for r, n := range n {
			run(&q[r*dim], &k[0], &v[0], &states[r*StateLen(dim)], int64(4*kPitch), int64(n), int64(dim))
		}
	}
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
