package kernels

import "math"

// Places in an attention state, in floats: the running maximum of the scores, 16
// sums of weights, the tile's weights, the weighted sum of V.
const (
	stateMax = 0
	stateSum = 16
	stateP   = 32
	stateOut = 64
)

// lanes is how many partial sums reductions have, on every CPU.
const lanes = 16

// StateLen is the length of an attention state for heads of dim elements.
func StateLen(dim int) int { return stateOut + (dim+lanes-1)/lanes*lanes }

// ResetState prepares a state for Attend.
func ResetState(state []float32) {
	clear(state)
	state[stateMax] = float32(math.Inf(-1))
}

// MergeState adds what next has seen to state: both sums, each scaled to the larger of
// the two maxima. All Sets merge by it, so its operations are rounded one by one.
func MergeState(state, next []float32) {
	top := max(state[stateMax], next[stateMax])
	scale, nextScale := weigh(state[stateMax], top), weigh(next[stateMax], top)
	state[stateMax] = top
	merge := func(from, to int) {
		other := next[from:to]
		for i, x := range state[from:to] {
			state[from+i] = float32(x*scale) + float32(other[i]*nextScale)
		}
	}
	merge(stateSum, stateSum+lanes)
	merge(stateOut, len(state))
}

// FinishState writes the attention's output, one head: the weighted sum of V over
// the sum of the weights.
func FinishState(state, out []float32) {
	scale := 1 / fold((*[lanes]float32)(state[stateSum:]))
	sums := state[stateOut:][:len(out)]
	for d, v := range sums {
		out[d] = v * scale
	}
}

// FinishSink is FinishState where the softmax has one score more, of a position without
// a value; sink is it, times log2(e).
func FinishSink(state, out []float32, sink float32) {
	top := max(state[stateMax], sink)
	old := weigh(state[stateMax], top)
	sum := float32(fold((*[lanes]float32)(state[stateSum:]))*old) + weigh(sink, top)
	scale := old / sum
	for d, v := range state[stateOut:][:len(out)] {
		out[d] = v * scale
	}
}

// fold adds up 16 lanes: lane i and i+8, then i and i+4, and so on.
func fold(sums *[lanes]float32) float32 {
	t := *sums
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			t[i] += t[i+half]
		}
	}
	return t[0]
}
