package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkPacked reports products with packed rows over 400 panels, more than the second
// level cache has: GB/s of weights count at one row, GOP/s at many.
func BenchmarkPacked(b *testing.B) {
	const blocks, panels = 16, 400
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range native() {
		for _, p := range products {
			w := randomPanels(r, p.format, panels, blocks, 1<<30)
			size := len(w) / panels
			for _, rows := range []int{1, 2, 4, 8, 16, 32, 64} {
				b.Run(fmt.Sprintf("%s/%s/%d", s.Name, p.format, rows), func(b *testing.B) {
					x, out := make([]byte, p.size(rows, blocks)), make([]float32, rows*panels*Panel)
					p.pack(s, random(r, rows*blocks*Block), x, rows, blocks, blocks*Block)
					gemm := p.gemm(s)
					for b.Loop() {
						if rows == 1 {
							gemm(w, x, out, blocks, 1, 0)
							continue
						}
						for i := range panels {
							gemm(w[i*size:], x, out[i*Panel:], blocks, rows, panels*Panel)
						}
					}
					perSecond := float64(b.N) * blocks * Block * Panel * panels / b.Elapsed().Seconds() / 1e9
					b.ReportMetric(float64(b.N)*float64(len(w))/b.Elapsed().Seconds()/1e9, "GB/s")
					b.ReportMetric(2*perSecond*float64(rows), "GOP/s")
				})
			}
		}
	}
}

// BenchmarkQuantise reports rows of 576.
func BenchmarkQuantise(b *testing.B) {
	const blocks = 18
	x := random(rand.New(rand.NewPCG(1, 1)), blocks*Block)
	for _, s := range All() {
		for _, p := range []product{products[0], products[2]} {
			b.Run(fmt.Sprintf("%s/%s", s.Name, p.format), func(b *testing.B) {
				packed := make([]byte, p.size(1, blocks))
				for b.Loop() {
					p.pack(s, x, packed, 1, blocks, blocks*Block)
				}
			})
		}
	}
}
