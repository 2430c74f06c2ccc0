package sampling

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRankOrders(t *testing.T) {
	ascending := []float32{-inf, -math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32, 1, math.MaxFloat32}
	for i, v := range ascending {
		if i > 0 && rank(ascending[i-1]) >= rank(v) {
			t.Errorf("rank(%v) is not below rank(%v)", ascending[i-1], v)
		}
		if got := unrank(rank(v)); got != v {
			t.Errorf("unrank(rank(%v)) is %v", v, got)
		}
	}
	if rank(float32(math.Copysign(0, -1))) != rank(0) {
		t.Error("zeros of both signs have different ranks")
	}
}

// The k-th largest by sorting, in rows long enough to be cut several times, in any
// order, ascending too.
func TestKthEqualsSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 5, 1023, 1024, 1025, 6000}).Draw(t, "n")
		k := rapid.IntRange(1, n).Draw(t, "k")
		if rapid.Bool().Draw(t, "small") {
			k = min(k, 1+k%50)
		}
		logits := goldenLogits{vocab: int64(n), seed: rapid.Int64Range(0, 1<<40).Draw(t, "seed"), scale: 1 << 18,
			coarse: rapid.Bool().Draw(t, "coarse"), masked: rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "masked")}.row()
		sorted := slices.Clone(logits)
		slices.Sort(sorted)
		if rapid.Bool().Draw(t, "ascending") {
			copy(logits, sorted)
		}
		want := sorted[n-k]
		if want == -inf || k == n || sorted[n-k-1] == -inf { // no more than k are finite
			want = -math.MaxFloat32
		}
		if got := NewSampler(n).kth(logits, k); got != want {
			t.Fatalf("number %d of %d is %v, want %v", k, n, got, want)
		}
	})
}
