//go:build !noasm

package kernels

func quantiseQueryAsm(q []float32, dst []byte) {
	if len(q)%lanes != 0 {
		quantiseQueryGo(q, dst)
		return
	}
	_ = dst[QueryLen(len(q))-1] // the assembly trusts this
	quantiseQuery(&q[0], &dst[0], int64(len(q)))
}

func storeBF16Asm(k, v []float32, kPage, vPage []uint16, kPitch, at int) {
	dim := len(k)
	if dim%lanes != 0 {
		storeBF16Go(k, v, kPage, vPage, kPitch, at)
		return
	}
	_, _ = v[dim-1], kPage[(dim-1)*kPitch+at] // the assembly trusts these
	_ = vPage[(at+1)*dim-1]
	storeBF16(&k[0], &v[0], &kPage[at], &vPage[at*dim], int64(2*kPitch), int64(dim))
}

func storeInt8Asm(k, v []float32, kPage, vPage []byte, kScales, vScales []float32, kPitch, at int) {
	dim := len(k)
	if dim%lanes != 0 {
		storeInt8Go(k, v, kPage, vPage, kScales, vScales, kPitch, at)
		return
	}
	kAt, vAt := 4*at, at/4*4*dim+at%4
	_, _ = v[dim-1], kPage[(dim-4)*kPitch+kAt+3] // the assembly trusts these
	_ = vPage[vAt+4*(dim-1)]
	kScales[at] = storeKeyInt8(&k[0], &kPage[kAt], int64(4*kPitch), int64(dim))
	vScales[at] = storeValueInt8(&v[0], &vPage[vAt], 16, int64(dim))
}
