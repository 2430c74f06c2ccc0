//go:build !noasm

package kernels

func addTileAsm(dst, src []float32, rows, dstStride, srcStride int) {
	addTile(&dst[0], &src[0], int64(rows), int64(4*dstStride), int64(4*srcStride))
}

func normBy(scaleMul func(x, w, out *float32, n16 int64, scale float32)) func(x, w, out []float32, n int, eps float64) {
	return func(x, w, out []float32, n int, eps float64) {
		n16 := int64(len(x) / lanes)
		scale := normScale(sumSquares(&x[0], n16), n, eps)
		scaleMul(&x[0], &w[0], &out[0], n16, scale)
	}
}

func ropeAsm(x, cos, sin []float32, dim int, scale float32) {
	if dim%lanes != 0 {
		ropeGo(x, cos, sin, dim, scale)
		return
	}
	rope(&x[0], &cos[0], &sin[0], int64(len(x)/dim), int64(dim/2), scale)
}
