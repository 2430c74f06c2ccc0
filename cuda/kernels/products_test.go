package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/model"
)

// product is a times w by the definition.
func product(a, w []float32, m, n, k int) []float64 {
	out := make([]float64, m*n)
	for r := range m {
		for c := range n {
			for i := range k {
				out[r*n+c] += float64(a[r*k+i]) * float64(w[c*k+i])
			}
		}
	}
	return out
}

// gemm is a product as count parts, added up.
func (r *rig) gemm(a cuda.Pointer, w Weights, m, n, k, count int) []float32 {
	r.Helper()
	parts := r.room(4 * count * m * n)
	r.ok(r.set.Gemm(r.stream, parts, a, w, m, n, k, count))
	got := r.getFloats(parts, count*m*n)
	sum := got[:m*n]
	for p := 1; p < count; p++ {
		for i := range sum {
			sum[i] += got[p*m*n+i]
		}
	}
	return sum
}

func TestGemm(t *testing.T) {
	onBoth(t, func(r *rig) {
		for _, c := range []struct{ m, n, k int }{{1, 40, 32}, {5, 65, 96}, {18, 70, 608}} {
			a := r.numbers(c.m*c.k, 1)
			for _, f := range formats {
				w, numbers := r.matrix(f, c.n, c.k)
				want := product(a, numbers, c.m, c.n, c.k)
				for _, count := range []int{1, Parts(c.m, c.n, c.k)} {
					r.near(fmt.Sprint(f, c, count), r.gemm(r.halves(a), w, c.m, c.n, c.k, count), want, ofFloat)
				}
			}
		}
	})
}

// A row's product has the same bits in every tile, and whoever adds up its parts.
func TestGemmIsBatchInvariant(t *testing.T) {
	onBoth(t, func(r *rig) {
		const m, n, k = 130, 12, 1120
		if Parts(1, n, k) < 2 || Parts(m, n, k) != 1 {
			r.Fatalf("%d parts of a row, %d of many", Parts(1, n, k), Parts(m, n, k))
		}
		a := r.numbers(m*k, 1)
		for _, f := range formats {
			w, _ := r.matrix(f, n, k)
			all := r.gemm(r.halves(a), w, m, n, k, 1)
			for _, some := range []struct{ from, rows int }{{129, 1}, {50, 1}, {3, 20}} {
				at := r.halves(a[some.from*k:][:some.rows*k])
				for _, count := range []int{1, Parts(some.rows, n, k)} {
					got := r.gemm(at, w, some.rows, n, k, count)
					r.same(fmt.Sprint(f, some, count), got, all[some.from*n:][:len(got)])
				}
			}
		}
	})
}

// gates are the gated MLP's functions by their definitions.
func gate(g, up float64, kind model.Activation) float64 {
	switch kind {
	case model.GELUTanh:
		return 0.5 * g * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(g+0.044715*g*g*g))) * up
	case model.ClampedSiLU:
		g, up = min(g, model.ClampLimit), max(-model.ClampLimit, min(up, model.ClampLimit))
		return g / (1 + math.Exp(-model.ClampAlpha*g)) * (up + 1)
	}
	return g / (1 + math.Exp(-g)) * up
}

func TestGemmGate(t *testing.T) {
	onBoth(t, func(r *rig) {
		const inter, k, ld = 21, 64, 32
		for _, c := range []struct {
			m      int
			kind   model.Activation
			bias   bool
			format Format
		}{
			{3, model.SiLU, false, BF16}, {20, model.GELUTanh, true, BF16}, {70, model.ClampedSiLU, true, BF16},
			{3, model.SiLU, true, Q8}, {20, model.SiLU, false, Q8}, {70, model.SiLU, true, Q8},
			{3, model.SiLU, true, Q4}, {20, model.SiLU, true, Q4}, {70, model.SiLU, false, Q4},
		} {
			a, bias := r.numbers(c.m*k, 1), r.numbers(2*inter, 4)
			w, numbers := r.matrix(c.format, 2*inter, k)
			y, biasAt := r.halves(make([]float32, c.m*ld)), cuda.Pointer(0)
			if c.bias {
				biasAt = r.floats(bias)
			}
			r.ok(r.set.GemmGate(r.stream, y, r.halves(a), w, biasAt, Added{}, c.m, 2*inter, k, ld, int(c.kind)))
			p, want := product(a, numbers, c.m, 2*inter, k), make([]float64, c.m*ld)
			for i := range c.m {
				for j := range inter {
					g, up := p[i*2*inter+2*j], p[i*2*inter+2*j+1]
					if c.bias {
						g, up = g+float64(bias[2*j]), up+float64(bias[2*j+1])
					}
					want[i*ld+j] = gate(g, up, c.kind)
				}
			}
			got := r.getHalves(y, c.m*ld)
			r.near(fmt.Sprint(c), got, want, ofHalf)
			one := r.halves(make([]float32, ld))
			r.ok(r.set.GemmGate(r.stream, one, r.halves(a[(c.m-1)*k:]), w, biasAt, Added{}, 1, 2*inter, k, ld, int(c.kind)))
			r.same("a row alone", r.getHalves(one, ld), got[(c.m-1)*ld:])
			there := r.floats(r.gemm(r.halves(a), w, c.m, 2*inter, k, 1))
			r.ok(r.set.GateParts(r.stream, y, there, biasAt, Added{}, c.m, 2*inter, ld, int(c.kind)))
			r.same("of a product that is there", r.getHalves(y, c.m*ld), got)
		}
	})
}
