package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBest goes over panels of rows with ties, negative zeros, infinities and NaNs, and
// compares with the definition: the first of the largest, NaN where one cannot be told.
func TestBest(t *testing.T) {
	const panels = 6
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	some := []float32{-2, -1, float32(math.Copysign(0, -1)), 0, 1, 2, -inf}
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(9, 9))
			for _, rows := range []int{1, 3, 64} {
				stride := panels*Panel + 3
				x := make([]float32, rows*stride)
				for i := range x {
					x[i] = some[r.IntN(len(some))]
				}
				for row := 2; row < rows; row += 5 {
					x[row*stride+r.IntN(panels*Panel)] = []float32{nan, inf}[row%2]
				}
				if rows > 3 {
					fill(x[7*stride:][:stride], -inf)
				}
				most, which := slices.Repeat([]float32{-inf}, rows), slices.Repeat([]int32{-1}, rows)
				for p := range panels {
					s.Best(x[p*Panel:], most, which, 100+p*Panel, rows, stride)
				}
				for row := range rows {
					checkBest(t, row, most[row], which[row]-100, x[row*stride:][:panels*Panel])
				}
			}
		})
	}
}

func fill(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

// checkBest holds the best of a row against its numbers.
func checkBest(t *testing.T, row int, most float32, which int32, x []float32) {
	t.Helper()
	wrong := func(v float32) bool { return v != v || v > math.MaxFloat32 }
	if slices.ContainsFunc(x, wrong) {
		if most == most {
			t.Errorf("row %d: the best is %v, but it has numbers that are none", row, most)
		}
		return
	}
	want := slices.Max(x)
	at := slices.Index(x, want)
	if math.IsInf(float64(want), -1) {
		at = -101 // none was found
	}
	if most != want || int(which) != at {
		t.Errorf("row %d: the best is %v, number %d, want %v, number %d", row, most, which, want, at)
	}
}

// BenchmarkBest looks at panels that are in the first cache, as those of a product are.
func BenchmarkBest(b *testing.B) {
	const rows, panels = 32, 1536
	r := rand.New(rand.NewPCG(1, 1))
	x := random(r, rows*Panel)
	for _, s := range All() {
		b.Run(s.Name, func(b *testing.B) {
			for range b.N {
				most, which := slices.Repeat([]float32{-9}, rows), make([]int32, rows)
				for p := range panels {
					s.Best(x, most, which, p*Panel, rows, Panel)
				}
			}
		})
	}
}
