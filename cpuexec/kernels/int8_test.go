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
	format Format
	pack   func(s *Set, x []float32, dst []byte, rows, blocks, xStride int)
	size   func(rows, blocks int) int
}

var products = []product{
	{Q8, packRows, PackedBytes},
	{Q4, packRows, PackedBytes},
	{C8, func(s *Set, x []float32, dst []byte, rows, blocks, xStride int) {
		s.QuantiseC8(x, dst, 0, rows, blocks, xStride)
	}, C8Bytes},
	{Q40, packRows, PackedBytes},
	{Q4K, packRows, PackedBytes},
	{Q5K, packRows, PackedBytes},
	{Q6K, packRows, PackedBytes},
}

func (p product) gemm(s *Set) func(w, x []byte, out []float32, blocks, rows, outStride int) {
	return s.Integers[p.format]
}

// blocks is so many or a few more, which a panel of the format can have.
func (p product) blocks(n int) int {
	if p.format >= Q4K {
		return (n + 7) / 8 * 8
	}
	return n
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
			place, each, every := scalesOf(f)
			for b := 0; b < blocks*f.blockBytes(); b += every {
				for c := range each {
					half(at + b + place + 2*c)
				}
			}
		}
	}
	return w
}

// scalesOf says where in a panel's parts of so many bytes so many halves lie.
func scalesOf(f Format) (place, halves, every int) {
	return map[Format]int{Q8: 1024, Q4: 512, Q40: 512}[f],
		map[Format]int{Q8: 32, Q4: 64, Q40: 32, Q4K: 64, Q5K: 64, Q6K: 32}[f],
		map[Format]int{Q8: 1088, Q4: 640, Q40: 576, Q4K: 4736, Q5K: 5760, Q6K: 6720}[f]
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
	s, sx := float32At(x, xScale), float32At(x, xSums)
	var sums [2]int32 // of 16 k
	block, d, m := blockOf(f, w, b, c)
	for k := range Block {
		sums[k/16] += int32(int8(x[k])) * integerOf(f, block, c, k)
	}
	if f == Q6K {
		acc = fma(d, float32(float32(sums[0])*s), acc)
		return fma(m, float32(float32(sums[1])*s), acc)
	}
	acc = fma(d, float32(float32(sums[0]+sums[1])*s), acc)
	if f == Q8 {
		return acc
	}
	return fma(m, sx, acc)
}

// blockOf is block b of a panel, and what integers of column c are multiplied with and what
// is added; of Q6K that of the last 16 k.
func blockOf(f Format, w []byte, b, c int) (block []byte, d, m float32) {
	switch f {
	case Q8:
		block = w[b*1088:]
		return block, f16At(block, 1024+2*c), 0
	case Q4:
		block = w[b*640:]
		return block, f16At(block, 512+2*c), f16At(block, 576+2*c)
	case Q40:
		block = w[b*576:]
		return block, f16At(block, 512+2*c), -8 * f16At(block, 512+2*c)
	case Q6K:
		w = w[b/8*6720:]
		block = w[64+b%8*832:]
		return block, f16At(w, 2*c) * float32(int8(block[768+c])), f16At(w, 2*c) * float32(int8(block[800+c]))
	}
	super, size := 4736, 576
	if f == Q5K {
		super, size = 5760, 704
	}
	w = w[b/8*super:]
	block = w[128+b%8*size:]
	return block, f16At(w, 2*c) * float32(block[size-64+c]), f16At(w, 64+2*c) * float32(block[size-32+c])
}

// integerOf is number k of column c of a block.
func integerOf(f Format, block []byte, c, k int) int32 {
	at := c%16*4 + k%4
	switch f {
	case Q8:
		return int32(block[c/16*512+k/4*64+at]) - 128
	case Q6K:
		low := block[c/16*256+k/8*64+at] >> (k / 4 % 2 * 4) & 15
		high := block[512+c/16*128+k/16*64+at] >> (k % 16 / 4 * 2) & 3
		return int32(low) + 16*int32(high) - 32
	}
	q := int32(block[c/16*256+k%16/4*64+at] >> (k / 16 * 4) & 15)
	if f == Q5K {
		q += 16 * int32(block[512+c/16*64+at]>>(k/4)&1)
	}
	return q
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
				p.check(t, r, s, rows, 14) // two calls of products of nibbles
			}
			p.check(t, r, s, 25, 800) // 8 rows a call of that of C8
		}
	}
}

// TestPackedProducts compares every Set with the definition: ragged rows, any number of
// blocks, weights and rows of all kinds. Nothing else is written.
func TestPackedProducts(t *testing.T) {
	for _, s := range All() {
		for _, p := range products {
			t.Run(fmt.Sprintf("%s/%s", s.Name, p.format), func(t *testing.T) {
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
	blocks = p.blocks(blocks)
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
	const blocks, rows = 16, 515
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
					sameBits(t, fmt.Sprintf("%s/%s of %x: row %d", s.Name, p.format, q, row), got[row*Panel:][:Panel], want[:])
				}
			}
		}
	}
}

// fillBytes sets all but the scales of a panel.
func fillBytes(f Format, w []byte, blocks int, q byte) {
	if f == C8 {
		w = w[:len(w)-c8Scale]
	}
	for at := range w {
		if f == C8 || at < blocks*f.blockBytes() && !isScale(f, at) {
			w[at] = q
		}
	}
}

// isScale tells whether a place of a panel is one of scales or minima.
func isScale(f Format, at int) bool {
	block, head := f.blockBytes(), 0
	switch f {
	case Q4K, Q5K:
		head = q4kHead
	case Q6K:
		head = q6kHead
	}
	if head > 0 {
		at, block = at%(8*block)-head, block-head/8
	}
	scales := map[Format]int{Q8: 64, Q4: 128, Q40: 64, Q4K: 64, Q5K: 64, Q6K: 64}[f]
	return at < 0 || at%block >= block-scales
}
