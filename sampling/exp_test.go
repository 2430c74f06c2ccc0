package sampling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// manyLogits is a row as a model's: most near 0, some far above, some -Inf.
func manyLogits(r *rand.Rand, vocab int, spread float64) []float32 {
	row := make([]float32, vocab)
	for i := range row {
		row[i] = float32(r.NormFloat64() * spread)
		if r.IntN(50) == 0 {
			row[i] = -inf
		}
	}
	row[r.IntN(vocab)] = float32(5 * spread)
	return row
}

// Weights are exponentials at every temperature; below e^-60 they are 0. Their sum, over
// any number of them, is that of the plain way.
func TestWeigh(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, temperature := range []float64{2, 1, 0.7, 0.01, 1e-40} {
		for _, n := range []int{1, 7, 8, 63, 64} {
			d := distribution{logits: manyLogits(r, n, 4), temperature: temperature}
			d.logits[0], d.best = 21, 21
			out := make([]float64, n)
			sum, want := NewSampler(n).weigh(&d, d.logits, out), 0.0
			for i, w := range out {
				log := d.at(int32(i))
				exp := math.Exp(log)
				want += exp
				if log < negligible-1e-3 && w != 0 || log > negligible+1e-3 && math.Abs(w/exp-1) > 1e-12 || i == 0 && w != 1 {
					t.Errorf("temperature %v: the weight of %v is %v, want %v", temperature, d.logits[i], w, exp)
				}
			}
			if math.Abs(sum/want-1) > 1e-12 {
				t.Errorf("temperature %v: the sum of %d is %v, want %v", temperature, n, sum, want)
			}
		}
	}
}

func TestAbove(t *testing.T) {
	nan := float32(math.NaN())
	for n := range 40 {
		x := slices.Repeat([]float32{-1}, n)
		if got := above(x, -1); got != n {
			t.Errorf("%d equal ones: %d", n, got)
		}
		for i := range x {
			for _, v := range []float32{-0.5, inf, nan, -nan} {
				x[i] = v
				if got := above(x, -1); got != i {
					t.Errorf("%v at %d of %d: %d", v, i, n, got)
				}
			}
			x[i] = -inf
		}
	}
}

// What is drawn where all may be is what the definition draws, at every random number
// that is not within rounding of a border, and those of a sum's ends.
func TestDrawAny(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 3, 64, 65, 1000} {
		d := distribution{logits: manyLogits(r, n, 3), temperature: 0.9}
		d.best = float64(slices.Max(d.logits))
		s := NewSampler(n)
		total := s.sumAll(&d)
		var all candidates
		for i := range d.logits {
			all.add(int32(i), math.Exp(d.at(int32(i))))
		}
		if math.Abs(all.total()/total-1) > 1e-12 {
			t.Fatalf("%d logits: the total is %v, want %v", n, total, all.total())
		}
		for range 500 {
			u := r.Float64()
			if got, want := s.drawAny(&d, u*total), all.draw(u*all.total()); got != want {
				t.Errorf("%d logits at %v: %d, want %d", n, u, got, want)
			}
		}
		for _, u := range []float64{0, 1 - 0x1p-53} {
			if got := s.drawAny(&d, u*total); d.logits[got] == -inf {
				t.Errorf("%d logits at %v: %d, which cannot come", n, u, got)
			}
		}
	}
}

// Top-p of many tokens, flat and peaked ones, is what sorting keeps.
func TestTopPOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, spread := range []float64{0.01, 0.5, 2, 6} {
		for _, p := range []float32{0.05, 0.5, 0.9, 0.99, 0.9999} {
			logits := manyLogits(r, 3000, spread)
			params := Params{Temperature: 1, TopP: p, Tell: Tell{Kept: true}}
			want, _ := plain(logits, params)
			if got := kept(t, logits, params); !slices.Equal(got, want) {
				t.Errorf("spread %v, top-p %v keeps %d, want %d", spread, p, len(got), len(want))
			}
		}
	}
}

// Min-p by its threshold is what comparing every weight keeps.
func TestMinPOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, temperature := range []float32{0.01, 0.7, 2} {
		for _, p := range []float32{1e-6, 0.1, 1} {
			logits := manyLogits(r, 3000, 3)
			params := Params{Temperature: temperature, MinP: p, Tell: Tell{Kept: true}}
			want, _ := plain(logits, params)
			if got := kept(t, logits, params); !slices.Equal(got, want) {
				t.Errorf("temperature %v, min-p %v keeps %v, want %v", temperature, p, got, want)
			}
		}
	}
}
