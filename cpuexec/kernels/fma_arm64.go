package kernels

// fma is a*b+c rounded once: on arm64 the compiler makes one FMADDS of it, which a
// test checks.
func fma(a, b, c float32) float32 { return a*b + c }

// addProducts adds x[i]*f to sums[i], each rounded once.
func addProducts(sums, x []float32, f float32) {
	for i, v := range x {
		sums[i] = fma(v, f, sums[i])
	}
}
