package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// oddNumbers is n numbers, of which some are huge, tiny, zeros of both signs, infinite or
// no numbers.
func oddNumbers(r *rand.Rand, n int) []float32 {
	x := random(r, n)
	odd := []float32{0, float32(math.Copysign(0, -1)), 1e-42, -1e-42, 1e-20, 3e38, -3e38, 88, -88,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for i := range x {
		switch r.IntN(8) {
		case 0:
			x[i] = odd[r.IntN(len(odd))]
		case 1:
			x[i] *= 50 // to the ends of exp2's range
		}
	}
	return x
}

// gateKernel is a gate of a Set with its twin and what it is to compute.
type gateKernel struct {
	name string
	of   func(s *Set) func(src, dst []float32, rows, dstStride int)
	want func(gate, up float64) float64
}

const clampAlpha, clampLimit = 1.702, 7

var gateKernels = []gateKernel{
	{"SiluTile", func(s *Set) func(src, dst []float32, rows, dstStride int) { return s.SiluTile },
		func(g, up float64) float64 { return g / (1 + math.Exp(-g)) * up }},
	{"GELUTile", func(s *Set) func(src, dst []float32, rows, dstStride int) { return s.GELUTile },
		func(g, up float64) float64 {
			return g / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(g+0.044715*g*g*g))) * up
		}},
	{"ClampedTile", func(s *Set) func(src, dst []float32, rows, dstStride int) {
		return func(src, dst []float32, rows, dstStride int) {
			s.ClampedTile(src, dst, rows, dstStride, clampAlpha, clampLimit)
		}
	}, func(g, up float64) float64 {
		g, up = min(g, clampLimit), max(-clampLimit, min(up, clampLimit))
		return g / (1 + math.Exp(-clampAlpha*g)) * (up + 1)
	}},
}

// TestGatesEqualTwins compares every Set's with plain Go to the bit; nothing else is written.
func TestGatesEqualTwins(t *testing.T) {
	eachNative(t, func(t *testing.T, s *Set) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, k := range gateKernels {
			for _, rows := range []int{1, 3, 64} {
				src, a := oddNumbers(r, rows*2*Panel), random(r, rows*40)
				b := slices.Clone(a)
				k.of(s)(src, a, rows, 40)
				k.of(generic)(src, b, rows, 40)
				sameNumbers(t, k.name, a, b)
			}
		}
	})
}

// TestGatesKeepNaN: of a gate or an up that is none, nothing becomes a number.
func TestGatesKeepNaN(t *testing.T) {
	for _, s := range All() {
		for _, k := range gateKernels {
			for _, at := range []int{5, Panel + 5} {
				src, out := random(rand.New(rand.NewPCG(6, 1)), 2*Panel), make([]float32, Panel)
				src[at] = float32(math.NaN())
				k.of(s)(src, out, 1, Panel)
				if out[5] == out[5] || out[6] != out[6] {
					t.Errorf("%s: %s makes %v of a NaN, %v beside it", s.Name, k.name, out[5], out[6])
				}
			}
		}
	}
}

// TestGateValues checks plain Go, and so all Sets, against the formulas.
func TestGateValues(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for _, k := range gateKernels {
		src, out := random(r, 200*2*Panel), make([]float32, 200*Panel)
		for i := range src {
			src[i] *= 4
		}
		k.of(generic)(src, out, 200, Panel)
		for i, got := range out {
			at := i/Panel*2*Panel + i%Panel
			want := k.want(float64(src[at]), float64(src[at+Panel]))
			if !(math.Abs(float64(got)-want) <= 1e-6*(1+math.Abs(want))) {
				t.Fatalf("%s of %v and %v is %v, want %v", k.name, src[at], src[at+Panel], got, want)
			}
		}
	}
}

// BenchmarkGates computes the gates of a token of 6,912 columns, and caps as many logits.
func BenchmarkGates(b *testing.B) {
	const rows = 216
	r := rand.New(rand.NewPCG(8, 8))
	src, dst := random(r, rows*2*Panel), make([]float32, rows*Panel)
	for _, s := range All() {
		for _, k := range gateKernels {
			b.Run(s.Name+"/"+k.name, func(b *testing.B) {
				for b.Loop() {
					k.of(s)(src, dst, rows, Panel)
				}
			})
		}
		b.Run(s.Name+"/CapTile", func(b *testing.B) {
			for b.Loop() {
				s.CapTile(src, rows, Panel, 30)
			}
		})
	}
}
