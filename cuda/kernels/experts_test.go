package kernels

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/model"
)

func TestRoute(t *testing.T) {
	onBoth(t, func(r *rig) {
		const tokens, hidden, experts, per = 3, 40, 37, 5
		x, norm, w, bias := r.numbers(tokens*hidden, 1), r.numbers(hidden, 1), r.numbers(experts*hidden, 1), r.numbers(experts, 1)
		copy(w[9*hidden:10*hidden], w[4*hidden:]) // equal scores
		bias[9], bias[4] = 9, 9
		chosen, weight := r.room(4*tokens*per), r.room(4*tokens*per)
		for kind := RouteAll; kind <= RouteChosen; kind++ {
			r.ok(r.set.Route(r.stream, chosen, weight, r.floats(x), r.floats(norm), r.floats(w), r.floats(bias), tokens, hidden, experts, per, testEps, kind))
			gotChosen, gotWeight := r.getInts(chosen, tokens*per), r.getFloats(weight, tokens*per)
			for i := range tokens {
				scores := product(halved(normed(wide(x[i*hidden:][:hidden]), norm, testEps)), w, 1, experts, hidden)
				for e := range scores {
					scores[e] += float64(bias[e])
				}
				want := slices.Repeat([]float64{0}, per)
				sum := 0.0
				for e, s := range scores {
					if kind == RouteAll || slices.Contains(gotChosen[i*per:][:per], int32(e)) {
						sum += math.Exp(s)
					}
				}
				best := slices.Max(scores)
				for j := range per {
					e := gotChosen[i*per+j]
					want[j] = math.Exp(scores[e]) / sum
					if j == 0 && scores[e] < best-1e-4 {
						r.Fatalf("token %d: expert %d of %g is first, the best has %g", i, e, scores[e], best)
					}
				}
				r.near(fmt.Sprint("weights ", kind), gotWeight[i*per:][:per], want, 1e-4)
				at := slices.Index(gotChosen[i*per:][:per], 4)
				if at < 0 || at+1 >= per || gotChosen[i*per+at+1] != 9 {
					r.Fatalf("token %d takes %v: of equal scores the lower expert goes first", i, gotChosen[i*per:][:per])
				}
			}
		}
	})
}

// halved is a row in float32.
func halved(row []float64) []float32 {
	out := make([]float32, len(row))
	for i, x := range row {
		out[i] = float32(x)
	}
	return out
}

// The products of a mixture of experts, from choices to what each token gets.
func TestExperts(t *testing.T) {
	for _, tokens := range []int{3, 75} {
		for _, f := range formats {
			t.Run(fmt.Sprintf("%d tokens, %s", tokens, f), func(t *testing.T) {
				onBoth(t, func(r *rig) { checkExperts(r, tokens, f) })
			})
		}
	}
}

func checkExperts(r *rig, tokens int, f Format) {
	const experts, per, k, inter, width, n = 5, 2, 32, 9, 32, 21
	rows := tokens * per
	chosen := make([]int32, rows)
	for i := range tokens {
		chosen[per*i] = int32(r.random.IntN(3)) // expert 3 has none
		chosen[per*i+1] = 4
	}
	order, row, starts := r.room(4*rows), r.room(4*rows), r.room(4*(experts+1))
	r.ok(r.set.SortExperts(r.stream, order, row, starts, r.ints(chosen...), rows, experts))
	gotOrder, gotRow, gotStarts := r.getInts(order, rows), r.getInts(row, rows), r.getInts(starts, experts+1)
	checkSorted(r, chosen, gotOrder, gotRow, gotStarts)

	a, gateBias := r.numbers(tokens*k, 1), r.numbers(experts*2*inter, 1)
	gateUpAt, gateUp := r.matrices(f, experts, 2*inter, k)
	y := r.halves(make([]float32, rows*width))
	r.ok(r.set.GemmGateExperts(r.stream, y, r.halves(a), gateUpAt, r.floats(gateBias), order, starts, rows, per, experts, 2*inter, k, width, int(model.SiLU)))
	gated := r.getHalves(y, rows*width)
	for i, o := range gotOrder {
		e, from := int(chosen[o]), int(o)/per
		p, want := product(a[from*k:][:k], gateUp[e*2*inter*k:], 1, 2*inter, k), make([]float64, width)
		for j := range inter {
			want[j] = gate(p[2*j]+float64(gateBias[e*2*inter+2*j]), p[2*j+1]+float64(gateBias[e*2*inter+2*j+1]), model.SiLU)
		}
		r.near(fmt.Sprintf("gated row %d", i), gated[i*width:][:width], want, ofHalf)
	}

	bias, weight := r.numbers(experts*n, 1), r.numbers(rows, 1)
	downAt, down := r.matrices(f, experts, n, width)
	out, sum := r.room(4*rows*n), r.room(4*tokens*n)
	r.ok(r.set.GemmExperts(r.stream, out, y, downAt, r.floats(bias), starts, rows, experts, n, width))
	r.ok(r.set.Mix(r.stream, sum, out, r.floats(weight), row, tokens, per, n))
	got := r.getFloats(sum, tokens*n)
	for i := range tokens {
		want := make([]float64, n)
		for j := range per {
			at, e := int(gotRow[i*per+j]), int(chosen[i*per+j])
			p := product(gated[at*width:][:width], down[e*n*width:], 1, n, width)
			for c := range want {
				want[c] += float64(weight[i*per+j]) * (p[c] + float64(bias[e*n+c]))
			}
		}
		r.near(fmt.Sprintf("token %d", i), got[i*n:][:n], want, ofFloat)
	}
}

// checkSorted checks that rows are choices by expert, and those of an expert in their order.
func checkSorted(r *rig, chosen, order, row, starts []int32) {
	r.Helper()
	want := make([]int32, len(chosen))
	for i := range want {
		want[i] = int32(i)
	}
	slices.SortStableFunc(want, func(a, b int32) int { return int(chosen[a] - chosen[b]) })
	if !slices.Equal(order, want) {
		r.Fatalf("order is %v, want %v", order, want)
	}
	for e := range len(starts) {
		before := int32(0)
		for _, c := range chosen {
			if int(c) < e {
				before++
			}
		}
		if starts[e] != before {
			r.Fatalf("expert %d begins at row %d, want %d", e, starts[e], before)
		}
	}
	for i, o := range order {
		if row[o] != int32(i) {
			r.Fatalf("choice %d is told to have row %d, and has %d", o, row[o], i)
		}
	}
}
