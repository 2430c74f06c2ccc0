package kernels

import (
	"math"
	"slices"
	"testing"
)

func TestBest(t *testing.T) {
	onBoth(t, func(r *rig) {
		const n = 3001
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		rows := [][]float32{r.numbers(n, 1), r.numbers(n, 1), r.numbers(n, 1), r.numbers(n, 1), make([]float32, n), make([]float32, n)}
		rows[0][2999], rows[0][17], rows[0][1041] = 2, 2, 2
		rows[1][3000] = nan
		rows[2][0] = inf
		rows[3][1500], rows[3][1501] = 5, -inf
		for i := range rows[4] {
			rows[4][i] = -inf
			rows[5][i] = -1e38
		}
		ids := r.room(4 * len(rows))
		r.ok(r.set.Best(r.stream, ids, r.floats(slices.Concat(rows...)), len(rows), n))
		if got, want := r.getInts(ids, len(rows)), []int32{17, -1, -1, 1500, -1, 0}; !slices.Equal(got, want) {
			r.Errorf("the best are %v, want %v", got, want)
		}
	})
}

func TestKeepAndPatch(t *testing.T) {
	onBoth(t, func(r *rig) {
		last := r.ints(9, 9, 9, 9)
		r.ok(r.set.Keep(r.stream, last, r.ints(5, 6, -1), r.ints(3, -1, 0), 3))
		if got, want := r.getInts(last, 4), []int32{-1, 9, 9, 5}; !slices.Equal(got, want) {
			r.Errorf("last is %v, want %v", got, want)
		}
		to := r.ints(make([]int32, 300)...)
		var pairs, want []int32
		for i := range int32(300) {
			place := 299 - i
			if i%7 == 0 {
				place = -1
			}
			pairs = append(pairs, place, i+1)
		}
		for i := range int32(300) {
			x := int32(0)
			if (299-i)%7 != 0 {
				x = 300 - i
			}
			want = append(want, x)
		}
		r.ok(r.set.Patch(r.stream, to, r.ints(pairs...), 300))
		if got := r.getInts(to, 300); !slices.Equal(got, want) {
			r.Errorf("patched is %v, want %v", got, want)
		}
	})
}
