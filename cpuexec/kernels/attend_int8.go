package kernels

import (
	"encoding/binary"
	"math"
)

// A query is packed as integers of 15 bits with one scale, in the two forms that there
// are instructions for: each is high*128 + low, dim high bytes, then dim low ones; and
// dim words of 16 bits, of each 4 the first, the third, the second and the fourth. Then
// the scale in float32, and -128 times the sums of the high bytes, of the low ones and of
// the words in int32. Products with K are exact
// up to MaxInt8Dim.
const (
	queryTop  = 127*128 + 63
	queryTail = 16
)

// MaxInt8Dim is the most elements that heads of a cache in int8 may have: a product of a
// query and K is up to queryTop*127 times their number, which an int32 holds up to 1036.
const MaxInt8Dim = 1024

// QueryLen is the size of a packed query of dim elements, in bytes.
func QueryLen(dim int) int { return 4*dim + queryTail }

// quantiseQueryGo packs a query. One with a NaN or an infinity has such a scale.
func quantiseQueryGo(q []float32, dst []byte) {
	top := largest(q)
	inverse, scale := queryTop/top, float32(top*(1.0/queryTop))
	var highs, lows int32
	for d, v := range q {
		n := integer(v*inverse, -queryTop, queryTop)
		high := (n + 64) >> 7
		low := n - high<<7
		dst[d], dst[len(q)+d] = byte(high), byte(low)
		binary.LittleEndian.PutUint16(dst[2*len(q)+2*wordAt(d):], uint16(n))
		highs, lows = highs+high, lows+low
	}
	tail := dst[4*len(q):][:queryTail]
	binary.LittleEndian.PutUint32(tail, math.Float32bits(scale))
	binary.LittleEndian.PutUint32(tail[4:], uint32(-128*highs))
	binary.LittleEndian.PutUint32(tail[8:], uint32(-128*lows))
	binary.LittleEndian.PutUint32(tail[12:], uint32(-128*(128*highs+lows)))
}

// wordAt is the place of number d among the words of a query.
func wordAt(d int) int { return d&^3 + [4]int{0, 2, 1, 3}[d%4] }

// weightTop is the largest integer that a position's weight times its scale becomes in a
// tile: the largest of them.
const weightTop = 32767

// attendInt8Go is AttendInt8. Scores are exact products of integers, times both scales.
// The weights times V's scales become integers relative to their largest, so that the
// weighted sum of a tile is exact too, and is added as one.
func attendInt8Go(q, k, v, _ []byte, kScales, vScales, states []float32, kPitch int, n []int32, dim int, top float32) {
	size := StateLen(dim)
	for r, n := range n {
		state, q := states[r*size:][:size], q[r*QueryLen(dim):][:QueryLen(dim)]
		var sums [Tile]int32
		for d := range dim {
			x, row := int32(int16(binary.LittleEndian.Uint16(q[2*dim+2*wordAt(d):]))), k[d/4*4*kPitch+d%4:]
			for j := range n {
				sums[j] += x * int32(int8(row[4*j]^0x80))
			}
		}
		scale := float32At(q, 4*dim)
		for j := range n {
			state[stateP+j] = float32(sums[j]) * float32(scale*kScales[j])
		}
		if top != 0 {
			capRow(state[stateP:][:n], capScale, top)
		}
		soften(state, int(n))
		var weights [Tile]int32
		unit := integerWeights(state[stateP:][:n], vScales, &weights)
		for d := range dim {
			var sum int32
			for j, w := range weights[:n] {
				sum += w * int32(int8(v[j/4*4*dim+4*d+j%4]))
			}
			state[stateOut+d] = fma(float32(sum), unit, state[stateOut+d])
		}
	}
}

// integerWeights makes integers of weights times scales, and answers what one of them is
// worth.
func integerWeights(p, scales []float32, out *[Tile]int32) (unit float32) {
	var products [Tile]float32
	for j, w := range p {
		products[j] = w * scales[j]
	}
	top := largest(products[:len(p)])
	inverse := weightTop / top
	for j, v := range products[:len(p)] {
		out[j] = integer(v*inverse, 0, weightTop)
	}
	return float32(top * (1.0 / weightTop))
}
