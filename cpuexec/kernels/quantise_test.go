package kernels

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// samePacked compares packed rows; one NaN is as good as another where a word is a float.
func samePacked(t *testing.T, what string, got, want []byte, float func(at int) bool) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for at := 0; at < len(want); at += 4 {
		if bytes.Equal(got[at:at+4], want[at:at+4]) {
			continue
		}
		g, w := float32At(got, at), float32At(want, at)
		if !float(at) || g == g || w == w {
			t.Fatalf("%s: at %d is %x, plain Go has %x", what, at, got[at:at+4], want[at:at+4])
		}
	}
}

// TestQuantiseEqualsTwin packs parts of rows, which are neighbours of others.
func TestQuantiseEqualsTwin(t *testing.T) {
	eachNative(t, func(t *testing.T, s *Set) {
		r := rand.New(rand.NewPCG(12, 12))
		for range 200 {
			rows, blocks, row := 1+r.IntN(9), 1+r.IntN(20), r.IntN(5)
			xStride := blocks*Block + r.IntN(5)
			x := oddRows(r, rows, xStride)
			what := fmt.Sprintf("rows=%d blocks=%d row=%d", rows, blocks, row)

			first := r.IntN(blocks)
			n := 1 + r.IntN(blocks-first)
			got, want := make([]byte, PackedBytes(row+rows+1, blocks)), make([]byte, PackedBytes(row+rows+1, blocks))
			s.Quantise(x, got, row, rows, first, n, blocks, xStride)
			quantiseGo(x, want, row, rows, first, n, blocks, xStride)
			samePacked(t, what, got, want, func(at int) bool { return at%xBlock >= xScale && at%xBlock != xOffset && at%xBlock < xHalves })

			got, want = make([]byte, C8Bytes(row+rows+1, blocks)), make([]byte, C8Bytes(row+rows+1, blocks))
			s.QuantiseC8(x, got, row, rows, blocks, xStride)
			quantiseC8Go(x, want, row, rows, blocks, xStride)
			samePacked(t, what+" c8", got, want, func(int) bool { return true })
		}
	})
}

// TestQuantise checks plain Go, and so all Sets, against what it promises: numbers are
// found again, and what is no number, or too large for one, makes products none.
func TestQuantise(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	x := random(r, Block)
	packed := make([]byte, PackedBytes(1, 1))
	quantiseGo(x, packed, 0, 1, 0, 1, 1, Block)
	scale, sum := float32At(packed, xScale), int32(0)
	for j, v := range x {
		q := int8(packed[j])
		sum += int32(q)
		if got := float32(q) * scale; math.Abs(float64(got-v)) > 0.5001*float64(scale) {
			t.Errorf("%v becomes %v, scale %v", v, got, scale)
		}
	}
	if got := float32At(packed, xSums); got != scale*float32(sum) {
		t.Errorf("sum is %v, want %v", got, scale*float32(sum))
	}
	for _, odd := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -1e34} {
		x[7] = odd
		quantiseGo(x, packed, 0, 1, 0, 1, 1, Block)
		if s, sx := float32At(packed, xScale), float32At(packed, xSums); s == s || sx == sx {
			t.Errorf("of %v the scale is %v, the sum %v", odd, s, sx)
		}
	}
}

// TestScaleIsExact checks what lets (magic+sum)*s - magic*s be sum*s: of any block the
// product of scale and magic is exact, or the scale is NaN.
func TestScaleIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 14))
	for range 20000 {
		x := []float32{math.Float32frombits(r.Uint32())}
		_, scale, bias := blockScale(x)
		if scale == scale && float64(bias) != -magic*float64(scale) {
			t.Fatalf("of %v the scale is %v, and %v times it %v", x[0], scale, -magic, bias)
		}
	}
}

// TestPackedRowsAreAlone computes rows in any company: their bits do not change.
func TestPackedRowsAreAlone(t *testing.T) {
	const most = 70
	for _, s := range All() {
		for _, p := range products {
			t.Run(fmt.Sprintf("%s/%s", s.Name, p.format), func(t *testing.T) {
				r := rand.New(rand.NewPCG(15, uint64(p.format)))
				for range 6 {
					blocks := p.blocks(1 + r.IntN(30))
					w, x := randomPanels(r, p.format, 1, blocks, 1<<20), random(r, most*blocks*Block)
					alone := make([]float32, most*Panel)
					for row := range most {
						copy(alone[row*Panel:], p.rows(s, w, x[row*blocks*Block:], blocks, 1))
					}
					for range 8 {
						row := r.IntN(most)
						rows := 1 + r.IntN(most-row)
						got := p.rows(s, w, x[row*blocks*Block:], blocks, rows)
						sameBits(t, fmt.Sprintf("blocks=%d rows=%d from %d", blocks, rows, row), got, alone[row*Panel:][:rows*Panel])
					}
				}
			})
		}
	}
}

// rows packs rows and multiplies them.
func (p product) rows(s *Set, w []byte, x []float32, blocks, rows int) []float32 {
	packed, out := make([]byte, p.size(rows, blocks)), make([]float32, rows*Panel)
	p.pack(s, x, packed, rows, blocks, blocks*Block)
	p.gemm(s)(w, packed, out, blocks, rows, Panel)
	return out
}

// TestPanelsOfOneRow multiplies one row with panels side by side.
func TestPanelsOfOneRow(t *testing.T) {
	const blocks, panels = 32, 40 // more than a call takes
	for _, s := range All() {
		for _, p := range products {
			r := rand.New(rand.NewPCG(16, uint64(p.format)))
			w, x := randomPanels(r, p.format, panels, blocks, 1<<20), random(r, blocks*Block)
			packed, got := make([]byte, p.size(1, blocks)), make([]float32, panels*Panel)
			p.pack(s, x, packed, 1, blocks, blocks*Block)
			p.gemm(s)(w, packed, got, blocks, 1, 0)
			for i := range panels {
				want := byDefinition(p.format, w[i*p.format.PanelBytes(blocks*Block):], packed, blocks, 0)
				sameBits(t, fmt.Sprintf("%s/%s: panel %d", s.Name, p.format, i), got[i*Panel:][:Panel], want[:])
			}
		}
	}
}

// TestPackedProductsDoNotAllocate holds for steps.
func TestPackedProductsDoNotAllocate(t *testing.T) {
	for _, s := range All() {
		for _, p := range products {
			r := rand.New(rand.NewPCG(17, 17))
			const blocks = 8
			w, x := randomPanels(r, p.format, 1, blocks, 1<<20), random(r, 9*blocks*Block)
			packed, out := make([]byte, p.size(9, blocks)), make([]float32, 9*Panel)
			gemm := p.gemm(s)
			if n := testing.AllocsPerRun(10, func() {
				p.pack(s, x, packed, 9, blocks, blocks*Block)
				gemm(w, packed, out, blocks, 9, Panel)
			}); n != 0 {
				t.Errorf("%s/%s allocates %v times", s.Name, p.format, n)
			}
		}
	}
}
