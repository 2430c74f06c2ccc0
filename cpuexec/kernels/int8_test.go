package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// sameNumbers is sameBits where one NaN is as good as another.
func sameNumbers(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, g, w)
		}
	}
}

// product is a kernel of packed rows with what packs them.
type product struct {
	name   string
	format Format
	gemm   func(s *Set) func(w, x []byte, out []float32, blocks, rows, outStride int)
	pack   func(s *Set, x []float32, dst []byte, rows, blocks, xStride int)
	size   func(rows, blocks int) int
}

var products = []product{
	{"q8", Q8, func(s *Set) func(w, x []byte, out []float32, blocks, rows, outStride int) { return s.GemmQ8 }, packRows, PackedBytes},
	{"q4", Q4, func(s *Set) func(w, x []byte, out []float32, blocks, rows, outStride int) { return s.GemmQ4 }, packRows, PackedBytes},
	{"c8", C8, func(s *Set) func(w, x []byte, out []float32, blocks, rows, outStride int) { return s.GemmC8 },
		func(s *Set, x []float32, dst []byte, rows, blocks, xStride int) {
			s.QuantiseC8(x, dst, 0, rows, blocks, xStride)
		}, C8Bytes},
}

func packRows(s *Set, x []float32, dst []byte, rows, blocks, xStride int) {
	s.Quantise(x, dst, 0, rows, 0, blocks, blocks, xStride)
}

// randomPanels is panels of any bytes; of the scales some are subnormal, one in so many
// is no finite number.
func randomPanels(r *rand.Rand, f Format, panels, blocks, odd int) []byte {
	w := make([]byte, panels*f.PanelBytes(blocks*Block))
	for i := range w {
		w[i] = byte(r.Uint32())
		if r.IntN(8) == 0 {
			w[i] = []byte{0, 0xff, 0x80, 0x7f}[r.IntN(4)]
		}
	}
	half := func(at int) {
		h := uint16(r.IntN(0x7c00))&^0x4000 | uint16(r.IntN(2))<<15
		if r.IntN(odd) == 0 {
			h = []uint16{0, 0x8000, 1, 0x3ff, 0x7bff, 0x7c00, 0xfc00, 0x7e01}[r.IntN(8)]
		}
		binary.LittleEndian.PutUint16(w[at:], h)
	}
	for p := range panels {
		switch at := p * f.PanelBytes(blocks*Block); f {
		case C8:
			at += blocks * Block * Panel
			for c := range Panel {
				d := float32(r.NormFloat64())
				if r.IntN(odd) == 0 {
					d = []float32{0, 1e-42, float32(math.Inf(1)), float32(math.NaN()), 3e38}[r.IntN(5)]
				}
				binary.LittleEndian.PutUint32(w[at+4*c:], math.Float32bits(d))
			}
		default:
			size, scales := q8Block, Panel
			if f == Q4 {
				size, scales = q4Block, 2*Panel
			}
			for b := range blocks {
				for c := range scales {
					half(at + (b+1)*size - 2*scales + 2*c)
				}
			}
		}
	}
	return w
}

// oddRows is rows of numbers, of which some blocks are all zero, huge, tiny, all equal, or
// have a denormal, an infinity or a NaN.
func oddRows(r *rand.Rand, rows, stride int) []float32 {
	x := random(r, rows*stride)
	for at := 0; at+Block <= len(x); at += Block {
		some := x[at:][:Block]
		switch r.IntN(24) {
		case 0:
			clear(some)
		case 1:
			scaleBy(some, 1e-39)
		case 2:
			scaleBy(some, 1e32)
		case 3:
			scaleBy(some, 1e37)
		case 4:
			some[r.IntN(Block)] = float32(math.Inf(1 - 2*r.IntN(2)))
		case 5:
			some[r.IntN(Block)] = float32(math.NaN())
		case 6:
			some[r.IntN(Block)] = math.MaxFloat32
		case 7:
			for i := range some {
				some[i] = some[0]
			}
		}
	}
	return x
}

func scaleBy(x []float32, f float32) {
	for i := range x {
		x[i] *= f
	}
}

// byDefinition is a product as the formats and set.go describe it, number by number.
func byDefinition(f Format, w, x []byte, blocks, row int) (out [Panel]float32) {
	for c := range out {
		var acc float32
		if f == C8 {
			acc = c8ByDefinition(w, x, blocks, row, c)
		} else {
			for b := range blocks {
				acc = blockByDefinition(f, w, x[PackedBytes(row, blocks)+b*xBlock:], b, c, acc)
			}
		}
		out[c] = acc
	}
	return out
}

func blockByDefinition(f Format, w, x []byte, b, c int, acc float32) float32 {
	s, sx, sum := float32At(x, xScale), float32At(x, xSums), int32(0)
	for k := range Block {
		q := int32(int8(x[k]))
		if f == Q8 {
			sum += q * (int32(w[b*q8Block+c/16*512+k/4*64+c%16*4+k%4]) - 128)
		} else {
			j := k % 16
			sum += q * int32(w[b*q4Block+c/16*256+j/4*64+c%16*4+j%4]>>(k/16*4)&15)
		}
	}
	t := float32(float32(sum) * s)
	if f == Q8 {
		return fma(f16At(w, b*q8Block+1024+2*c), t, acc)
	}
	acc = fma(f16At(w, b*q4Block+512+2*c), t, acc)
	return fma(f16At(w, b*q4Block+576+2*c), sx, acc)
}

func c8ByDefinition(w, x []byte, blocks, row, c int) (acc float32) {
	k := blocks * Block
	x = x[row/C8Rows*c8Bytes(blocks):]
	for at := 0; at < k; at += C8Group {
		n, sum := min(C8Group, k-at), int32(0)
		for j := range n {
			q := int32(w[(at+j)/4*4*Panel+c/16*64+c%16*4+j%4]) - 128
			sum += q * int32(int8(x[j/4*4*C8Rows+row%C8Rows*4+j%4]))
		}
		acc = fma(float32(sum), float32At(x, n*C8Rows+row%C8Rows*4), acc)
		x = x[n*C8Rows+2*4*C8Rows:]
	}
	return acc * float32At(w, k*Panel+4*c)
}

// TestPackedRowLeft has a single row in the last call of a product of many.
func TestPackedRowLeft(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for _, s := range native() {
		for _, p := range products {
			for _, rows := range []int{129, 257, 513} {
				p.check(t, r, s, rows, 14) // two calls of GemmQ4
			}
			p.check(t, r, s, 25, 800) // 8 rows a call of GemmC8
		}
	}
}

// TestPackedProducts compares every Set with the definition: ragged rows, any number of
// blocks, weights and rows of all kinds. Nothing else is written.
func TestPackedProducts(t *testing.T) {
	for _, s := range All() {
		for _, p := range products {
			t.Run(s.Name+"/"+p.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(11, uint64(p.format)))
				for _, rows := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 63, 64, 65, 130} {
					blocks := 1 + r.IntN(60)
					if rows > 16 {
						blocks = 1 + r.IntN(12)
					}
					p.check(t, r, s, rows, blocks)
				}
				for blocks := 1; blocks <= 60; blocks += 1 + r.IntN(3) {
					p.check(t, r, s, 1+r.IntN(3), blocks)
				}
			})
		}
	}
}

func (p product) check(t *testing.T, r *rand.Rand, s *Set, rows, blocks int) {
	t.Helper()
	odd := 1 << (2 + r.IntN(12))
	w := randomPanels(r, p.format, 1, blocks, odd)
	xStride, outStride := blocks*Block+r.IntN(5), Panel+r.IntN(3)
	var x []float32
	if r.IntN(2) == 0 {
		x = random(r, rows*xStride)
	} else {
		x = oddRows(r, rows, xStride)
	}
	packed := make([]byte, p.size(rows, blocks))
	for i := range packed {
		packed[i] = 0xff // what stands in rows that are none
	}
	p.pack(generic, x, packed, rows, blocks, xStride)
	size := rows * outStride
	if rows == 1 {
		size = Panel // as many panels
	}
	got := make([]float32, size)
	for i := range got {
		got[i] = 7
	}
	p.gemm(s)(w, packed, got, blocks, rows, outStride)
	for row := range rows {
		want := byDefinition(p.format, w, packed, blocks, row)
		what := fmt.Sprintf("rows=%d blocks=%d row=%d", rows, blocks, row)
		sameNumbers(t, what, got[row*outStride:][:Panel], want[:])
		for _, v := range got[row*outStride+Panel : min((row+1)*outStride, size)] {
			if v != 7 {
				t.Fatalf("%s: %v is written behind the row", what, v)
			}
		}
	}
}

// TestExtremes multiplies the largest numbers of bytes with each other, where sums in 16
// bits would saturate, in more rows than a call takes.
func TestExtremes(t *testing.T) {
	const blocks, rows = 9, 515
	x := make([]float32, rows*blocks*Block)
	for i := range x {
		x[i] = float32(1 - i/3%2*2*(i/(blocks*Block)%2)) // some rows alternate
	}
	for _, s := range All() {
		for _, p := range products {
			for _, q := range []byte{0, 0xff} {
				w := randomPanels(rand.New(rand.NewPCG(18, 18)), p.format, 1, blocks, 1<<20)
				fillBytes(p.format, w, blocks, q)
				packed, got := make([]byte, p.size(rows, blocks)), make([]float32, rows*Panel)
				p.pack(s, x, packed, rows, blocks, blocks*Block)
				p.gemm(s)(w, packed, got, blocks, rows, Panel)
				for _, row := range []int{0, 1, 2, 3, 127, 128, 129, 511, 512, 513, 514} {
					want := byDefinition(p.format, w, packed, blocks, row)
					sameBits(t, fmt.Sprintf("%s/%s of %x: row %d", s.Name, p.name, q, row), got[row*Panel:][:Panel], want[:])
				}
			}
		}
	}
}

// fillBytes sets all but the scales of a panel.
func fillBytes(f Format, w []byte, blocks int, q byte) {
	size, scales := len(w), c8Scale
	switch f {
	case Q8:
		size, scales = q8Block, 2*Panel
	case Q4:
		size, scales = q4Block, 2*2*Panel
	}
	for at := 0; at < len(w); at += size {
		for i := range size - scales {
			w[at+i] = q
		}
	}
}
