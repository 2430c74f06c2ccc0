package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCapRow compares with the definition, from scores so small that they hardly change to
// infinite ones.
func TestCapRow(t *testing.T) {
	scores := []float32{0, 1e-30, float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, 9, -9}
	r := rand.New(rand.NewPCG(3, 14))
	for range 10000 {
		scores = append(scores, float32(r.NormFloat64()*math.Exp2(float64(r.IntN(24)-18))))
	}
	got := append([]float32(nil), scores...)
	const top = 72
	capRow(got, capScale, top)
	for i, x := range scores {
		want := top * math.Tanh(float64(x))
		if d := math.Abs(float64(got[i]) - want); !(d <= 4e-7*math.Abs(want)) {
			t.Fatalf("%v becomes %v, want %v", x, got[i], want)
		}
	}
	nan := []float32{float32(math.NaN())}
	if capRow(nan, capScale, top); nan[0] == nan[0] {
		t.Errorf("NaN becomes %v", nan[0])
	}
}

// TestCapTile compares every Set with the definition, and with plain Go to the bit.
func TestCapTile(t *testing.T) {
	for _, s := range All() {
		r := rand.New(rand.NewPCG(3, 15))
		for _, stride := range []int{Panel, 3*Panel + 5} {
			const rows, top = 40, 30
			x := oddNumbers(r, rows*stride)
			got, plain := slices.Clone(x), slices.Clone(x)
			s.CapTile(got, rows, stride, top)
			capTileGo(plain, rows, stride, top)
			sameNumbers(t, s.Name, got, plain)
			for i, v := range x {
				want := top * math.Tanh(float64(v)/top)
				if i%stride >= Panel {
					want = float64(v) // untouched
				}
				if d := math.Abs(float64(got[i]) - want); !(d <= 5e-7*math.Abs(want)+1e-44) && v == v && got[i] != v {
					t.Fatalf("%s: %v becomes %v, want %v", s.Name, v, got[i], want)
				}
			}
		}
	}
}

// TestFinishSink compares with a softmax that has the sink among its scores, which may be
// far above or below them.
func TestFinishSink(t *testing.T) {
	const dim, n = 16, 12
	r := rand.New(rand.NewPCG(5, 5))
	for _, sink := range []float64{-300, -3, 0, 3, 40, 300} {
		q := random(r, dim)
		var ks, vs [][]float32
		for range n {
			ks, vs = append(ks, random(r, dim)), append(vs, random(r, dim))
		}
		kp, vp := page(ks, vs, n, dim)
		state, out := make([]float32, StateLen(dim)), make([]float32, dim)
		ResetState(state)
		attendGo(q, kp, vp, nil, state, n, []int32{n}, dim, 0)
		FinishSink(state, out, float32(sink))
		sum := math.Exp2(sink)
		for _, k := range ks {
			sum += math.Exp2(dot(q, k))
		}
		for d, x := range out {
			want := 0.0
			for j, k := range ks {
				want += math.Exp2(dot(q, k)) / sum * float64(vs[j][d])
			}
			if math.Abs(float64(x)-want) > 2e-6*(1+math.Abs(want)) {
				t.Errorf("sink %v: out[%d] is %v, want %v", sink, d, x, want)
			}
		}
	}
}

func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
