package kernels

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkAttend(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	q, k, v := random(r, 64), random(r, 64*32), random(r, 64*32)
	state := make([]float32, StateLen(64))
	for _, s := range native() {
		b.Run(s.Name, func(b *testing.B) {
			ResetState(state)
			for range b.N {
				s.Attend(q, k, v, state, 32, []int32{32}, 64)
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
