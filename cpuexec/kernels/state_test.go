package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMergeState attends to positions in parts, whose scores are far from each other's, and
// merges them: the answer is that over all of them.
func TestMergeState(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	const dim, parts, n = 24, 4, 20
	for _, spread := range []float32{0, 3, 200} {
		q := random(r, dim)
		var ks, vs [][]float32
		var merged []float32
		for p := range parts {
			state := make([]float32, StateLen(dim))
			ResetState(state)
			for range n {
				k := random(r, dim)
				for d := range k {
					k[d] += q[d] * spread / 24 * float32([]int{1, -1, 2, 0}[p])
				}
				ks, vs = append(ks, k), append(vs, random(r, dim))
			}
			kp, vp := page(ks[p*n:], vs[p*n:], n, dim)
			attendGo(q, kp, vp, nil, state, n, []int32{n}, dim, 0)
			if p == 0 {
				merged = state
				continue
			}
			MergeState(merged, state)
		}
		out := make([]float32, dim)
		FinishState(merged, out)
		for d, w := range attention(q, ks, vs) {
			if math.Abs(float64(out[d])-w) > 2e-6*(1+float64(spread))*(1+math.Abs(w)) {
				t.Errorf("spread %v: out[%d] = %v, want %v", spread, d, out[d], w)
			}
		}
	}
}

// TestMergeStateKeepsNaN merges a NaN in, from either side.
func TestMergeStateKeepsNaN(t *testing.T) {
	for side := range 2 {
		states := [2][]float32{make([]float32, StateLen(16)), make([]float32, StateLen(16))}
		for i, s := range states {
			ResetState(s)
			k := slices.Repeat([]float32{1}, 16*Tile)
			if i == side {
				k[3*Tile] = float32(math.NaN())
			}
			attendGo(k[:16], k, k, nil, s, Tile, []int32{Tile}, 16, 0)
		}
		MergeState(states[0], states[1])
		out := make([]float32, 16)
		FinishState(states[0], out)
		if i := slices.IndexFunc(out, func(x float32) bool { return x == x }); i >= 0 {
			t.Errorf("side %d: out[%d] = %v of a NaN key", side, i, out[i])
		}
	}
}
