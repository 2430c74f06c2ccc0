package kernels

import (
	"encoding/binary"
	"math"
)

// A query is packed as integers of 15 bits, each high*128 + low, with one scale: dim high
// bytes, dim low bytes, the scale in float32, -128 times the sum of the high and of the low
// bytes in int32, and 4 bytes of nothing. Products with K are exact.
const (
	queryTop  = 127*128 + 63
	queryTail = 16
)

// QueryLen is the size of a packed query of dim elements, in bytes.
func QueryLen(dim int) int { return 2*dim + queryTail }

// quantiseQueryGo packs a query. One with a NaN or an infinity has such a scale.
func quantiseQueryGo(q []float32, dst []byte) {
	var most uint32
	for _, v := range q {
		most = max(most, math.Float32bits(v)&0x7fffffff)
	}
	top := math.Float32frombits(most)
	if top < tiny {
		top = tiny
	}
	inverse, scale := queryTop/top, float32(top*(1.0/queryTop))
	var highs, lows int32
	for d, v := range q {
		v *= inverse
		if !(v > -queryTop) {
			v = -queryTop
		}
		if !(v < queryTop) {
			v = queryTop
		}
		n := int32(math.RoundToEven(float64(v)))
		high := (n + 64) >> 7
		low := n - high<<7
		dst[d], dst[len(q)+d] = byte(high), byte(low)
		highs, lows = highs+high, lows+low
	}
	tail := dst[2*len(q):][:queryTail]
	binary.LittleEndian.PutUint32(tail, math.Float32bits(scale))
	binary.LittleEndian.PutUint32(tail[4:], uint32(-128*highs))
	binary.LittleEndian.PutUint32(tail[8:], uint32(-128*lows))
}

// weightTop is the largest integer that a position's weight times its scale becomes in a
// tile: the largest of them.
const weightTop = 32767

// attendInt8Go is AttendInt8. Scores are exact products of integers, times both scales.
// The weights times V's scales become integers relative to their largest, so that the
// weighted sum of a tile is exact too, and is added as one.
func attendInt8Go(q, k, v, _ []byte, kScales, vScales, states []float32, kPitch int, n []int32, dim int) {
	size := StateLen(dim)
	for r, n := range n {
		state, q := states[r*size:][:size], q[r*QueryLen(dim):][:QueryLen(dim)]
		scale := float32At(q, 2*dim)
		score := func(j int) float32 {
			var sum int32
			for d := range dim {
				sum += (128*int32(int8(q[d])) + int32(int8(q[dim+d]))) * int32(int8(k[d/4*4*kPitch+4*j+d%4]^0x80))
			}
			return float32(sum) * float32(scale*kScales[j])
		}
		attendRow(state, int(n), score)
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
	var most uint32
	for j, w := range p {
		most = max(most, math.Float32bits(w*scales[j])&0x7fffffff)
	}
	top := math.Float32frombits(most)
	if top < tiny {
		top = tiny
	}
	inverse := weightTop / top
	for j, w := range p {
		v := float32(w*scales[j]) * inverse
		if !(v > 0) {
			v = 0
		}
		if !(v < weightTop) {
			v = weightTop
		}
		out[j] = int32(math.RoundToEven(float64(v)))
	}
	return float32(top * (1.0 / weightTop))
}
