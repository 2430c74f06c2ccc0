package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// testPage is a page of one key head in each type of cache; places that were not written
// have NaN, or bytes and scales like any.
type testPage struct {
	pitch, dim int
	k, v       []float32
	k16, v16   []uint16
	k8, v8     []byte
	ks, vs     []float32
}

func newTestPage(r *rand.Rand, pitch, dim int) *testPage {
	up := (pitch + 3) / 4 * 4
	p := &testPage{pitch: pitch, dim: dim,
		k: make([]float32, dim*pitch+Tile), v: make([]float32, pitch*dim),
		k16: make([]uint16, dim*pitch+Tile), v16: make([]uint16, pitch*dim),
		k8: make([]byte, dim*pitch+4*Tile), v8: make([]byte, up*dim),
		ks: make([]float32, pitch), vs: make([]float32, pitch)}
	for _, x := range [][]float32{p.k, p.v, p.ks, p.vs} {
		for i := range x {
			x[i] = float32(math.NaN())
		}
	}
	for _, x := range [][]uint16{p.k16, p.v16} {
		for i := range x {
			x[i] = 0x7fc0
		}
	}
	for _, x := range [][]byte{p.k8, p.v8} {
		for i := range x {
			x[i] = byte(r.Uint32())
		}
	}
	return p
}

func (p *testPage) put(k, v []float32, at int) {
	for d, x := range k {
		p.k[d*p.pitch+at] = x
	}
	copy(p.v[at*p.dim:], v)
	storeBF16Go(k, v, p.k16, p.v16, p.pitch, at)
	storeInt8Go(k, v, p.k8, p.v8, p.ks, p.vs, p.pitch, at)
}

// attendTypes are the kernels of a Set, over a testPage from a position on.
var attendTypes = []struct {
	name   string
	attend func(s *Set, p *testPage, q, states []float32, at int, n []int32, top float32)
}{
	{"f32", func(s *Set, p *testPage, q, states []float32, at int, n []int32, top float32) {
		s.Attend(q, p.k[at:], p.v[at*p.dim:], nil, states, p.pitch, n, p.dim, top)
	}},
	{"bf16", func(s *Set, p *testPage, q, states []float32, at int, n []int32, top float32) {
		s.AttendBF16(q, p.k16[at:], p.v16[at*p.dim:], p.k16, states, p.pitch, n, p.dim, top)
	}},
	{"int8", func(s *Set, p *testPage, q, states []float32, at int, n []int32, top float32) {
		packed := make([]byte, len(n)*QueryLen(p.dim))
		for r := range n {
			s.QuantiseQuery(q[r*p.dim:][:p.dim], packed[r*QueryLen(p.dim):][:QueryLen(p.dim)])
		}
		s.AttendInt8(packed, p.k8[4*at:], p.v8[at*p.dim:], nil, p.ks[at:], p.vs[at:], states, p.pitch, n, p.dim, top)
	}},
}

// strange changes some of x to numbers that are none, or small, or large.
func strange(r *rand.Rand, x []float32) []float32 {
	for range r.IntN(3) {
		x[r.IntN(len(x))] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)),
			0, float32(math.Copysign(0, -1)), 1e-42, -3e-39, 1e38}[r.IntN(8)]
	}
	return x
}

// sameStates compares states to the bit where they have an answer. One without, which had
// a NaN or an infinite score, may say so in more than one way, and has none in the end.
func sameStates(t *testing.T, what string, got, want []float32, dim int) {
	t.Helper()
	size := StateLen(dim)
	for r := range len(want) / size {
		g, w := got[r*size:][:size], want[r*size:][:size]
		if m := w[stateMax]; m != m || math.IsInf(float64(m), 0) {
			a, b := make([]float32, dim), make([]float32, dim)
			FinishState(g, a)
			FinishState(w, b)
			g, w = a, b
		}
		for i := range w {
			if math.Float32bits(g[i]) != math.Float32bits(w[i]) && (g[i] == g[i] || w[i] == w[i]) {
				t.Fatalf("%s: row %d: value %d is %v, plain Go has %v", what, r, i, g[i], w[i])
			}
		}
	}
}

// manyRows adds a page, in two calls where it is longer than a tile, to states of rows
// queries of which each sees a number of its own.
func manyRows(t *testing.T, r *rand.Rand, s *Set, rows, pitch, dim int, strangely bool) {
	p, q := newTestPage(r, pitch, dim), random(r, rows*dim)
	written := pitch - r.IntN(pitch)
	for at := range written {
		k, v := random(r, dim), random(r, dim)
		if strangely {
			k, v = strange(r, k), strange(r, v)
		}
		if r.IntN(9) == 0 {
			clear(v)
		}
		p.put(k, v, at)
	}
	if strangely {
		q = strange(r, q)
	}
	for _, typ := range attendTypes {
		size, top := StateLen(dim), []float32{0, 7.5}[r.IntN(2)]
		got, want, alone := make([]float32, rows*size), make([]float32, rows*size), make([]float32, rows*size)
		for i := range rows {
			ResetState(got[i*size:][:size])
		}
		copy(want, got)
		copy(alone, got)
		for at := 0; at < written; at += Tile {
			n := make([]int32, rows)
			for i := range n {
				n[i] = int32(1 + r.IntN(min(Tile, written-at)))
			}
			typ.attend(s, p, q, got, at, n, top)
			typ.attend(generic, p, q, want, at, n, top)
			for i := range n {
				typ.attend(s, p, q[i*dim:], alone[i*size:][:size], at, n[i:][:1], top)
			}
			what := fmt.Sprintf("%s: %d rows, pitch %d, dim %d, from %d, top %v", typ.name, rows, pitch, dim, at, top)
			sameStates(t, what, got, want, dim)
			sameNumbers(t, what+", alone", alone, got)
		}
	}
}

// TestAttendManyRows: all types of cache, against plain Go and against each query alone.
func TestAttendManyRows(t *testing.T) {
	eachNative(t, func(t *testing.T, s *Set) {
		r := rand.New(rand.NewPCG(8, 8))
		for _, dim := range []int{16, 20, 32, 48, 64, 80, 96, 112, 128, 256} {
			for _, pitch := range []int{1, 5, 16, 31, 32, 33, 100} {
				manyRows(t, r, s, 1+r.IntN(12), pitch, dim, false)
				manyRows(t, r, s, 1+r.IntN(12), pitch, dim, true)
			}
		}
		manyRows(t, r, s, 48, 32, 64, false)
		manyRows(t, r, s, 65, 32, 64, true)
	})
}

// TestAttendIgnoresWhatIsNotSeen: positions that others see, but not this query, are none
// of its business, whatever lies there.
func TestAttendIgnoresWhatIsNotSeen(t *testing.T) {
	for _, s := range All() {
		for _, typ := range attendTypes {
			const dim, rows = 64, 7
			r := rand.New(rand.NewPCG(9, 9))
			clean, dirty := newTestPage(r, Tile, dim), newTestPage(r, Tile, dim)
			for at := range Tile {
				k, v := random(r, dim), random(r, dim)
				clean.put(k, v, at)
				if at >= 10 {
					for d := range k {
						k[d], v[d] = float32(math.Inf(1)), float32(math.NaN())
					}
				}
				dirty.put(k, v, at)
			}
			q, n := random(r, rows*dim), []int32{10, 32, 3, 9, 10, 11, 1}
			size := StateLen(dim)
			got, want := make([]float32, rows*size), make([]float32, rows*size)
			for i := range rows {
				ResetState(got[i*size:][:size])
			}
			copy(want, got)
			typ.attend(s, clean, q, want, 0, n, 0)
			typ.attend(s, dirty, q, got, 0, n, 0)
			for i := range n {
				if n[i] <= 10 {
					sameBits(t, fmt.Sprintf("%s %s row %d", s.Name, typ.name, i), got[i*size:][:size], want[i*size:][:size])
				}
			}
		}
	}
}
