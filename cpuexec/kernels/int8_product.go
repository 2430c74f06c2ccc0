package kernels

// gemmPackedGo is a product of a Format whose scales lie among the integers. Sums of
// products are exact in a block, or in 16 k of one where scales change there. Then
// out = fma(d, float(sum)*s, out), and where there are minima out = fma(m, s*sum(x), out),
// over ascending blocks. Each block of a panel is unpacked once for all rows.
func gemmPackedGo(f Format) func(w, x []byte, out []float32, blocks, rows, outStride int) {
	return func(w, x []byte, out []float32, blocks, rows, outStride int) {
		panels := 1
		if rows == 1 {
			panels, outStride = len(out)/Panel, Panel
		}
		var block unpacked
		for p := range panels {
			panel := w[p*blocks*f.blockBytes():]
			for b := range blocks {
				block.unpack(f, panel, b)
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
}

// multiply adds the products of a packed block.
func (u *unpacked) multiply(sums *[Panel]float32, x []byte) {
	var n [Block]int64
	for j, q := range x[:Block] {
		n[j] = int64(int8(q))
	}
	s, sx := float32At(x, xScale), float32At(x, xSums)
	if u.halves {
		u.add(sums, &u.d, &n, 0, Block/2, s)
		u.add(sums, &u.m, &n, Block/2, Block, s)
		return
	}
	u.add(sums, &u.d, &n, 0, Block, s)
	if u.minima {
		for c := range sums {
			sums[c] = fma(u.m[c], sx, sums[c])
		}
	}
}

// add adds the products of k numbers lo to hi, which share a scale.
func (u *unpacked) add(sums, d *[Panel]float32, x *[Block]int64, lo, hi int, s float32) {
	var dots pairSums
	dots.add(&u.q, x, lo, hi)
	for c := range sums {
		sums[c] = fma(d[c], float32(float32(dots.of(c))*s), sums[c])
	}
}
