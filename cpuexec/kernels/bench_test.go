package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkGemm reports the share of a step that matters: GB/s of weights at one
// row, GFLOP/s at many.
func BenchmarkGemm(b *testing.B) {
	const k, panels = 576, 400 // 29 MB, beyond the second level cache
	r := rand.New(rand.NewPCG(1, 1))
	w := random(r, k*Panel*panels)
	for _, s := range native() {
		for _, rows := range []int{1, 4, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", s.Name, rows), func(b *testing.B) {
				x, out := random(r, rows*k), make([]float32, rows*Panel)
				for range b.N {
					for p := range panels {
						s.Gemm(w[p*k*Panel:], x, out, k, rows, k, Panel)
					}
				}
				perSecond := float64(b.N) * k * Panel * panels / b.Elapsed().Seconds() / 1e9
				b.ReportMetric(4*perSecond, "GB/s")
				b.ReportMetric(2*perSecond*float64(rows), "GFLOP/s")
			})
		}
	}
}

func BenchmarkAttend(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	q, k, v := random(r, 64), random(r, 64*32), random(r, 64*32)
	state := make([]float32, StateLen(64))
	for _, s := range native() {
		b.Run(s.Name, func(b *testing.B) {
			ResetState(state)
			for range b.N {
				s.Attend(q, k, v, nil, state, 32, []int32{32}, 64)
			}
		})
	}
}

// BenchmarkTranspose reports GB/s of panels written, beyond the second level cache.
func BenchmarkTranspose(b *testing.B) {
	const k, panels = 128, 1000
	r := rand.New(rand.NewPCG(1, 1))
	x, w := random(r, k*Panel), make([]float32, k*Panel*panels)
	for _, s := range All() {
		b.Run(s.Name, func(b *testing.B) {
			b.SetBytes(4 * k * Panel * panels)
			for range b.N {
				for p := range panels {
					s.Transpose(x, w[p*k*Panel:], k, k)
				}
			}
		})
	}
}
