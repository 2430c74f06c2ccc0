//go:build !noasm

package kernels

import "golang.org/x/sys/cpu"

// gemmKernel computes a fixed number of rows; strides are in bytes.
type gemmKernel struct {
	rows int
	run  func(w, x, out *float32, k, xStride, outStride int64)
}

var avx2 = &Set{
	Name:          "avx2",
	Gemm:          gemmBy([]gemmKernel{{2, gemm2AVX2}, {1, gemm1AVX2}}),
	Attend:        attendAVX2.attend,
	GemmBF16:      gemmBF16Go,
	GemmQ8:        gemmQ8Go,
	GemmQ4:        gemmQ4Go,
	GemmC8:        gemmC8Go,
	Quantise:      quantiseGo,
	QuantiseC8:    quantiseC8Go,
	AttendBF16:    attendBF16AVX2.attend,
	AttendInt8:    attendInt8AVX2.attend,
	QuantiseQuery: quantiseQueryAsm,
	StoreBF16:     storeBF16Asm,
	StoreInt8:     storeInt8Asm,
	Best:          bestGo,
	AddTile:       addTileAsm,
	SiluTile:      siluTileAsm,
	Norm:          normAsm,
	Rope:          ropeAsm,
	Transpose:     transposeAsm,
}

var avx512 = &Set{
	Name:          "avx512",
	Gemm:          gemmBy([]gemmKernel{{8, gemm8AVX512}, {4, gemm4AVX512}, {2, gemm2AVX512}, {1, gemm1AVX512}}),
	Attend:        attendAVX512.attend,
	GemmBF16:      gemmBF16Go,
	GemmQ8:        gemmQ8Go,
	GemmQ4:        gemmQ4Go,
	GemmC8:        gemmC8Go,
	Quantise:      quantiseGo,
	QuantiseC8:    quantiseC8Go,
	AttendBF16:    attendBF16AVX512.attend,
	AttendInt8:    attendInt8AVX512.attend,
	QuantiseQuery: quantiseQueryAsm,
	StoreBF16:     storeBF16Asm,
	StoreInt8:     storeInt8Asm,
	Best:          bestGo,
	AddTile:       addTileAsm,
	SiluTile:      siluTileAsm,
	Norm:          normAsm,
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

// gemmBy serves any number of rows by kernels for fixed ones, the largest first.
func gemmBy(list []gemmKernel) func(w, x, out []float32, k, rows, xStride, outStride int) {
	return func(w, x, out []float32, k, rows, xStride, outStride int) {
		_ = w[k*Panel-1] // the assembly trusts these
		_ = x[(rows-1)*xStride+k-1]
		_ = out[(rows-1)*outStride+Panel-1]
		for r := 0; r < rows; {
			i := 0
			for list[i].rows > rows-r {
				i++
			}
			list[i].run(&w[0], &x[r*xStride], &out[r*outStride], int64(k), int64(4*xStride), int64(4*outStride))
			r += list[i].rows
		}
	}
}

func addTileAsm(dst, src []float32, rows, dstStride, srcStride int) {
	addTile(&dst[0], &src[0], int64(rows), int64(4*dstStride), int64(4*srcStride))
}

func siluTileAsm(src, dst []float32, rows, dstStride int) {
	siluTile(&src[0], &dst[0], int64(rows), int64(4*dstStride))
}

func normAsm(x, w, out []float32, n int, eps float64) {
	n16 := int64(len(x) / lanes)
	scale := normScale(sumSquares(&x[0], n16), n, eps)
	scaleMul(&x[0], &w[0], &out[0], n16, scale)
}

func ropeAsm(x, cos, sin []float32, dim int, scale float32) {
	if dim%lanes != 0 {
		ropeGo(x, cos, sin, dim, scale)
		return
	}
	rope(&x[0], &cos[0], &sin[0], int64(len(x)/dim), int64(dim/2), scale)
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
