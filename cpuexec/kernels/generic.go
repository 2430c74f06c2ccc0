package kernels

import "math"

// generic is the Set in plain Go, the twin of the assembly: same operations, same
// order, same bits. Conversions to float32 around products keep the compiler from
// fusing what the assembly does not.
var generic = &Set{
	Name:      "generic",
	Gemm:      gemmGo,
	GemmBF16:  gemmBF16Go,
	GemmMXFP4: gemmMXFP4Go,
	Integers: [formats]func(w, x []byte, out []float32, blocks, rows, outStride int){
		Q8: gemmPackedGo(Q8), Q4: gemmPackedGo(Q4), C8: gemmC8Go, Q40: gemmPackedGo(Q40),
		Q4K: gemmPackedGo(Q4K), Q5K: gemmPackedGo(Q5K), Q6K: gemmPackedGo(Q6K),
	},
	Quantise:      quantiseGo,
	QuantiseC8:    quantiseC8Go,
	Attend:        attendGo,
	AttendBF16:    attendBF16Go,
	AttendInt8:    attendInt8Go,
	QuantiseQuery: quantiseQueryGo,
	StoreBF16:     storeBF16Go,
	StoreInt8:     storeInt8Go,
	Best:          bestGo,
	AddTile:       addTileGo,
	SiluTile:      siluTileGo,
	GELUTile:      geluTileGo,
	ClampedTile:   clampedTileGo,
	CapTile:       capTileGo,
	Norm:          normGo,
	Rope:          ropeGo,
	Transpose:     transposeGo,
	Read:          readGo,
	MulAddF32:     mulAddF32Go,
	MulAddInt8:    mulAddInt8Go,
}

func gemmGo(w, x, out []float32, k, rows, xStride, outStride int) {
	for r := range rows {
		var sums [Panel]float32
		for i, v := range x[r*xStride:][:k] {
			line := (*[Panel]float32)(w[i*Panel:])
			addProducts(sums[:], line[:], v)
		}
		copy(out[r*outStride:], sums[:])
	}
}

// attendGo is Attend.
func attendGo(q, k, v, _, states []float32, kPitch int, n []int32, dim int, top float32) {
	attendPlainly(addProducts, q, k, v, states, kPitch, n, dim, top)
}

// attendBF16Go is AttendBF16: the same over numbers that are widened.
func attendBF16Go(q []float32, k, v, _ []uint16, states []float32, kPitch int, n []int32, dim int, top float32) {
	attendPlainly(addWidened, q, k, v, states, kPitch, n, dim, top)
}

// attendPlainly attends row after row; add adds x[i]*f to sums[i], rounded once.
func attendPlainly[T float32 | uint16](add func(sums []float32, x []T, f float32), q []float32, k, v []T, states []float32, kPitch int, n []int32, dim int, top float32) {
	size := StateLen(dim)
	for r, n := range n {
		state, q := states[r*size:][:size], q[r*dim:][:dim]
		scores := state[stateP:][:n]
		clear(scores)
		for d, x := range q {
			add(scores, k[d*kPitch:][:n], x)
		}
		if top != 0 {
			capRow(scores, capScale, top)
		}
		soften(state, int(n))
		for j, p := range scores {
			add(state[stateOut:], v[j*dim:][:dim], p)
		}
	}
}

// soften makes the scores of n positions weights relative to the new maximum, and scales
// what the state has summed before.
func soften(state []float32, n int) {
	p := (*[Tile]float32)(state[stateP:])
	top := state[stateMax]
	for _, x := range p[:n] {
		top = max(top, x)
	}
	for j := range p {
		if j >= n {
			p[j] = float32(math.Inf(-1))
		}
		p[j] = weigh(p[j], top)
	}
	scale := weigh(state[stateMax], top)
	state[stateMax] = top
	for i := range lanes {
		state[stateSum+i] = fma(state[stateSum+i], scale, p[i]) + p[lanes+i]
	}
	sums := state[stateOut:]
	for d := range sums {
		sums[d] *= scale
	}
}

// weigh is the softmax weight of a score, relative to the largest one. What is
// further below than softLow weighs as that: 5e-20, which no sum with the
// largest's 1 notices, and no denormal number slows down.
func weigh(score, top float32) float32 {
	x := score - top
	if x < softLow {
		x = softLow
	}
	return exp2(x)
}

func addTileGo(dst, src []float32, rows, dstStride, srcStride int) {
	for r := range rows {
		d, s := (*[Panel]float32)(dst[r*dstStride:]), (*[Panel]float32)(src[r*srcStride:])
		for c := range d {
			d[c] += s[c]
		}
	}
}

func normGo(x, w, out []float32, n int, eps float64) {
	var sums [lanes]float32
	for i := 0; i < len(x); i += lanes {
		for l, v := range x[i:][:lanes] {
			sums[l] = fma(v, v, sums[l])
		}
	}
	scale := normScale(fold(&sums), n, eps)
	for i, v := range x {
		out[i] = float32(v*scale) * w[i]
	}
}

// normScale is what a root mean square norm multiplies with.
func normScale(squares float32, n int, eps float64) float32 {
	return float32(1 / math.Sqrt(float64(squares)/float64(n)+eps))
}

func ropeGo(x, cos, sin []float32, dim int, scale float32) {
	half := dim / 2
	for ; len(x) > 0; x = x[dim:] {
		for i := range half {
			lo, hi := x[i], x[half+i]
			x[i] = fma(-sin[i], hi, float32(lo*cos[i])) * scale
			x[half+i] = fma(sin[i], lo, float32(hi*cos[i])) * scale
		}
	}
}

func transposeGo(x, w []float32, k, xStride int) {
	for i := range k {
		line := (*[Panel]float32)(w[i*Panel:])
		for c := range line {
			line[c] = x[c*xStride+i]
		}
	}
}
