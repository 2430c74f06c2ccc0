package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// inBF16 is a panel of format F32 in format BF16, whose values lose their lower halves,
// and what is left of it in float32.
func inBF16(panel []float32, k int) (w []uint16, widened []float32) {
	w, widened = make([]uint16, BF16.PanelBytes(k)/2), make([]float32, len(panel))
	for i := range k {
		for c := range Panel {
			h := model.ToBF16(panel[i*Panel+c])
			w[i/2*2*Panel+c/16*32+c%16*2+i%2] = h
			widened[i*Panel+c] = widen(h)
		}
	}
	return w, widened
}

// unusual replaces some of x by what float32 has beside ordinary numbers.
func unusual(r *rand.Rand, x []float32) []float32 {
	for i := range x {
		switch r.IntN(40) {
		case 0:
			x[i] *= 1e-42 // denormal
		case 1:
			x[i] = 0
		case 2:
			x[i] = float32(math.Copysign(0, -1))
		}
	}
	return x
}

// TestGemm compares both products with plain Go: any k, any number of rows, strides
// that leave gaps, which stay as they are.
func TestGemm(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(2, 2))
			for _, k := range []int{1, 2, 7, 64, 577} {
				bf16, w := inBF16(unusual(r, random(r, k*Panel)), k)
				for _, rows := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 23, 64} {
					xStride, outStride := k+3, Panel+5
					x := unusual(r, random(r, (rows-1)*xStride+k))
					got, want := make([]float32, rows*outStride), make([]float32, rows*outStride)
					what := fmt.Sprintf("k=%d rows=%d", k, rows)
					gemmGo(w, x, want, k, rows, xStride, outStride)
					s.Gemm(w, x, got, k, rows, xStride, outStride)
					sameBits(t, what, got, want)
					clear(got)
					s.GemmBF16(bf16, x, got, k, rows, xStride, outStride)
					sameBits(t, what+" in bf16", got, want)
				}
			}
		})
	}
}

// TestGemmKeepsInfinities: what is not finite spoils its own output, and no other one.
func TestGemmKeepsInfinities(t *testing.T) {
	const k, rows = 9, 5
	for _, s := range All() {
		r := rand.New(rand.NewPCG(8, 8))
		panel, x := random(r, k*Panel), random(r, rows*k)
		panel[3*Panel+7] = float32(math.Inf(1))
		panel[4*Panel+9] = float32(math.NaN())
		x[2*k+5] = float32(math.NaN())
		bf16, w := inBF16(panel, k)
		plain, half := make([]float32, rows*Panel), make([]float32, rows*Panel)
		s.Gemm(w, x, plain, k, rows, k, Panel)
		s.GemmBF16(bf16, x, half, k, rows, k, Panel)
		for _, out := range [][]float32{plain, half} {
			for i, v := range out {
				row, c := i/Panel, i%Panel
				if isNaN := v != v; isNaN != (row == 2 || c == 9) {
					t.Errorf("%s: row %d column %d is %v", s.Name, row, c, v)
				}
				if isInf := math.IsInf(float64(v), 0); isInf != (row != 2 && c == 7) {
					t.Errorf("%s: row %d column %d is %v", s.Name, row, c, v)
				}
			}
		}
	}
}

// TestGemmAddsNoPadding: the pair that completes an odd k is not multiplied with what is
// behind the row.
func TestGemmAddsNoPadding(t *testing.T) {
	for _, s := range All() {
		bf16, _ := inBF16(make([]float32, Panel), 1)
		x := []float32{1, float32(math.NaN())}
		out := make([]float32, Panel)
		s.GemmBF16(bf16, x, out, 1, 1, 2, Panel)
		sameBits(t, s.Name, out, make([]float32, Panel))
	}
}

// BenchmarkGemm reports the share of a step that matters: GB/s of weights at one
// row, GFLOP/s at many.
func BenchmarkGemm(b *testing.B) {
	const k, panels = 576, 400 // 29 MB in float32, beyond the second level cache
	r := rand.New(rand.NewPCG(1, 1))
	w := random(r, k*Panel*panels)
	half := make([]uint16, 0, k*Panel*panels)
	for p := range panels {
		bf16, _ := inBF16(w[p*k*Panel:][:k*Panel], k)
		half = append(half, bf16...)
	}
	mx, _ := inMXFP4(r, panels*k/Block, math.MaxInt) // as many panels behind one another
	for _, s := range native() {
		for _, rows := range []int{1, 4, 8, 16, 32, 64} {
			x, out := random(r, rows*k), make([]float32, rows*Panel)
			f32 := func(at int) { s.Gemm(w[at:], x, out, k, rows, k, Panel) }
			bf16 := func(at int) { s.GemmBF16(half[at:], x, out, k, rows, k, Panel) }
			mxfp4 := func(at int) { s.GemmMXFP4(mx[at/(Panel*Block)*mxfp4Block:], x, out, k, rows, k, Panel) }
			for _, f := range []struct {
				format Format
				gemm   func(at int)
			}{{F32, f32}, {BF16, bf16}, {MXFP4, mxfp4}} {
				b.Run(fmt.Sprintf("%s/%v/%d", s.Name, f.format, rows), func(b *testing.B) {
					for range b.N {
						for p := range panels {
							f.gemm(p * k * Panel)
						}
					}
					perSecond := float64(b.N) * k * Panel * panels / b.Elapsed().Seconds() / 1e9
					b.ReportMetric(float64(f.format.PanelBytes(k))/k/Panel*perSecond, "GB/s")
					b.ReportMetric(2*perSecond*float64(rows), "GFLOP/s")
				})
			}
		}
	}
}
