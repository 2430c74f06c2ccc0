package kernels

// fma is a*b+c rounded once: on arm64 the compiler makes one FMADDS of it, which a
// test checks.
func fma(a, b, c float32) float32 { return a*b + c }
