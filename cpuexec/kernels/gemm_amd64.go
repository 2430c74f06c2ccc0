//go:build !noasm

package kernels

// gemmOf multiplies a fixed number of rows with a panel; strides are in bytes.
type gemmOf[W float32 | uint16 | byte] func(w *W, x, out *float32, k, xStride, outStride int64)

// The kernels for 1 row, for 2, and so on.
var (
	gemmAVX2      = []gemmOf[float32]{gemm1AVX2, gemm2AVX2, gemm3AVX2}
	gemmBF16AVX2  = []gemmOf[uint16]{gemmBF16x1AVX2, gemmBF16x2AVX2, gemmBF16x3AVX2}
	gemmMXFP4AVX2 = []gemmOf[byte]{gemmMXFP4x1AVX2, gemmMXFP4x2AVX2}

	gemmAVX512 = []gemmOf[float32]{
		gemm1AVX512, gemm2AVX512, gemm3AVX512, gemm4AVX512, gemm5AVX512, gemm6AVX512,
		gemm7AVX512, gemm8AVX512, gemm9AVX512, gemm10AVX512, gemm11AVX512, gemm12AVX512,
	}
	gemmBF16AVX512 = []gemmOf[uint16]{
		gemmBF16x1AVX512, gemmBF16x2AVX512, gemmBF16x3AVX512, gemmBF16x4AVX512, gemmBF16x5AVX512, gemmBF16x6AVX512,
		gemmBF16x7AVX512, gemmBF16x8AVX512, gemmBF16x9AVX512, gemmBF16x10AVX512, gemmBF16x11AVX512, gemmBF16x12AVX512,
	}
	gemmMXFP4AVX512 = []gemmOf[byte]{
		gemmMXFP4x1AVX512, gemmMXFP4x2AVX512, gemmMXFP4x3AVX512, gemmMXFP4x4AVX512, gemmMXFP4x5AVX512, gemmMXFP4x6AVX512,
		gemmMXFP4x7AVX512, gemmMXFP4x8AVX512, gemmMXFP4x9AVX512, gemmMXFP4x10AVX512, gemmMXFP4x11AVX512,
	}
)

// gemmBy is Gemm by kernels for rows. As many rows as can be share a pass over the
// panel, which the first pass has to wait for.
func gemmBy(list []gemmOf[float32]) func(w, x, out []float32, k, rows, xStride, outStride int) {
	return func(w, x, out []float32, k, rows, xStride, outStride int) {
		_ = w[k*Panel-1] // the assembly trusts this
		multiply(list, &w[0], x, out, k, rows, xStride, outStride)
	}
}

// gemmBF16By is GemmBF16 likewise.
func gemmBF16By(list []gemmOf[uint16]) func(w []uint16, x, out []float32, k, rows, xStride, outStride int) {
	return func(w []uint16, x, out []float32, k, rows, xStride, outStride int) {
		_ = w[(k+1)/2*2*Panel-1] // the assembly trusts this
		multiply(list, &w[0], x, out, k, rows, xStride, outStride)
	}
}

// gemmMXFP4By is GemmMXFP4 likewise; its kernels count blocks.
func gemmMXFP4By(list []gemmOf[byte]) func(w []byte, x, out []float32, k, rows, xStride, outStride int) {
	return func(w []byte, x, out []float32, k, rows, xStride, outStride int) {
		blocks := Blocks(k)
		_ = w[blocks*mxfp4Block-1] // the assembly trusts these
		_ = x[(rows-1)*xStride+blocks*Block-1]
		multiply(list, &w[0], x, out, blocks, rows, xStride, outStride)
	}
}

func multiply[W float32 | uint16 | byte](list []gemmOf[W], w *W, x, out []float32, k, rows, xStride, outStride int) {
	_ = x[(rows-1)*xStride+k-1] // the assembly trusts these
	_ = out[(rows-1)*outStride+Panel-1]
	for r := 0; r < rows; r += len(list) {
		n := min(len(list), rows-r)
		list[n-1](w, &x[r*xStride], &out[r*outStride], int64(k), int64(4*xStride), int64(4*outStride))
	}
}
