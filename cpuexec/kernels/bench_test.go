package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

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

// BenchmarkRows has what is done row by row, for 32 rows of the size of SmolLM2's.
func BenchmarkRows(b *testing.B) {
	const rows, hidden, dim, heads = 32, 576, 64, 12
	r := rand.New(rand.NewPCG(1, 1))
	x, w, out := random(r, rows*hidden), random(r, hidden), make([]float32, rows*hidden)
	tile, qk := random(r, rows*Panel), random(r, rows*heads*dim)
	cos, sin := slices.Repeat([]float32{0.6}, dim/2), slices.Repeat([]float32{0.8}, dim/2)
	for _, s := range native() {
		b.Run(s.Name+"/add", func(b *testing.B) {
			for range b.N {
				for p := range hidden / Panel {
					s.AddTile(x[p*Panel:], tile, rows, hidden, Panel)
				}
			}
		})
		b.Run(s.Name+"/norm", func(b *testing.B) {
			for range b.N {
				for row := range rows {
					s.Norm(x[row*hidden:][:hidden], w, out[row*hidden:][:hidden], hidden, 1e-5)
				}
			}
		})
		b.Run(s.Name+"/rope", func(b *testing.B) {
			for range b.N {
				for row := range rows {
					s.Rope(qk[row*heads*dim:][:heads*dim], cos, sin, dim, 1)
				}
			}
		})
	}
}
