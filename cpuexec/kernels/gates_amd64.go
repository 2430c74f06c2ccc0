//go:build !noasm

package kernels

func gateBy(run func(src, dst *float32, rows, dstStride int64)) func(src, dst []float32, rows, dstStride int) {
	return func(src, dst []float32, rows, dstStride int) {
		checkGates(src, dst, rows, dstStride)
		run(&src[0], &dst[0], int64(rows), int64(4*dstStride))
	}
}

func clampedBy(run func(src, dst *float32, rows, dstStride int64, factor, limit float32)) func(src, dst []float32, rows, dstStride int, alpha, limit float32) {
	return func(src, dst []float32, rows, dstStride int, alpha, limit float32) {
		checkGates(src, dst, rows, dstStride)
		run(&src[0], &dst[0], int64(rows), int64(4*dstStride), clampFactor(alpha), limit)
	}
}

// checkGates makes sure of what the assembly trusts.
func checkGates(src, dst []float32, rows, dstStride int) {
	_ = src[2*rows*Panel-1]
	_ = dst[(rows-1)*dstStride+Panel-1]
}

func capBy(run func(x *float32, rows, stride int64, factor, top float32)) func(x []float32, rows, stride int, top float32) {
	return func(x []float32, rows, stride int, top float32) {
		_ = x[(rows-1)*stride+Panel-1] // the assembly trusts it
		run(&x[0], int64(rows), int64(4*stride), logitFactor(top), top)
	}
}
