package kernels

// gemmQ8Go is GemmQ8: sums of products are exact in a block, then
// out = fma(d, float(sum)*s, out) over ascending blocks.
func gemmQ8Go(w, x []byte, out []float32, blocks, rows, outStride int) {
	gemmPackedGo(Q8, w, x, out, blocks, rows, outStride)
}

// gemmQ4Go is GemmQ4: as gemmQ8Go, and after each block out = fma(m, s*sum(x), out).
func gemmQ4Go(w, x []byte, out []float32, blocks, rows, outStride int) {
	gemmPackedGo(Q4, w, x, out, blocks, rows, outStride)
}

// gemmPackedGo unpacks each block of a panel once for all rows.
func gemmPackedGo(f Format, w, x []byte, out []float32, blocks, rows, outStride int) {
	panels := 1
	if rows == 1 {
		panels, outStride = len(out)/Panel, Panel
	}
	var block unpacked
	for p := range panels {
		for b := range blocks {
			w = block.unpack(f, w)
			for r := range rows {
				sums := (*[Panel]float32)(out[(p+r)*outStride:])
				if b == 0 {
					*sums = [Panel]float32{}
				}
				block.multiply(sums, x[PackedBytes(r, blocks)+b*xBlock:][:xBlock])
			}
		}
	}
}

// unpacked is a block of a panel.
type unpacked struct {
	q    pairs
	d, m [Panel]float32
	mins bool
}

// unpack takes the first block of w and returns what is behind it.
func (u *unpacked) unpack(f Format, w []byte) []byte {
	u.mins = f == Q4
	if f == Q8 {
		u.q.unpackQ8(w)
		halves(u.d[:], w[1024:])
		return w[q8Block:]
	}
	u.q.unpackQ4(w)
	halves(u.d[:], w[512:])
	halves(u.m[:], w[576:])
	return w[q4Block:]
}

// halves widens as many halves as dst has room for.
func halves(dst []float32, w []byte) {
	for c := range dst {
		dst[c] = f16At(w, 2*c)
	}
}

// multiply adds the products of a packed block.
func (u *unpacked) multiply(sums *[Panel]float32, x []byte) {
	var n [Block]int64
	for j, q := range x[:Block] {
		n[j] = int64(int8(q))
	}
	var dots pairSums
	dots.add(&u.q, &n)
	s, sx := float32At(x, xScale), float32At(x, xSums)
	for c := range sums {
		sums[c] = fma(u.d[c], float32(float32(dots.of(c))*s), sums[c])
		if u.mins {
			sums[c] = fma(u.m[c], sx, sums[c])
		}
	}
}
