package kernels

// unpacked is a block of a panel in plain Go's form.
type unpacked struct {
	q      pairs
	d, m   [Panel]float32
	minima bool // m is what is added
	halves bool // m is the scales of the last 16 k, d those of the first
}

// unpack takes block b of a panel.
func (u *unpacked) unpack(f Format, panel []byte, b int) {
	if f >= Q4K {
		u.unpackK(f, panel[b/8*8*f.blockBytes():], b%8)
		return
	}
	w := panel[b*f.blockBytes():]
	u.minima, u.halves = f != Q8, false
	if f == Q8 {
		u.q.unpackQ8(w)
		halves(u.d[:], w[q8Scales:])
		return
	}
	u.q.unpackQ4(w)
	halves(u.d[:], w[q4Scales:])
	if f == Q4 {
		halves(u.m[:], w[q4Minima:])
		return
	}
	for c, d := range u.d {
		u.m[c] = -8 * d
	}
}

// unpackK takes block b of 256 k.
func (u *unpacked) unpackK(f Format, w []byte, b int) {
	u.minima, u.halves = f != Q6K, f == Q6K
	halves(u.d[:], w)
	if f == Q6K {
		u.m, w = u.d, w[q6kHead+b*q6kBlock:]
		u.q.unpackQ6(w)
		for c := range u.d {
			u.d[c] *= float32(int8(w[q6kScales+c]))
			u.m[c] *= float32(int8(w[q6kScales+Panel+c]))
		}
		return
	}
	halves(u.m[:], w[2*Panel:])
	scales := q4kScales
	if f == Q5K {
		w, scales = w[q4kHead+b*q5kBlock:], q5kScales
		u.q.unpackQ5(w)
	} else {
		w = w[q4kHead+b*q4kBlock:]
		u.q.unpackQ4(w)
	}
	for c := range u.d {
		u.d[c] *= float32(w[scales+c])
		u.m[c] *= float32(w[scales+Panel+c])
	}
}

// halves widens as many halves as dst has room for.
func halves(dst []float32, w []byte) {
	for c := range dst {
		dst[c] = f16At(w, 2*c)
	}
}
