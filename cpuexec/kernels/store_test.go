package kernels

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestStore compares what is written with plain Go, whole pages of it, so that nothing
// else is; and reads it back: bf16 to the nearest, int8 within half of its scale.
func TestStore(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(10, 10))
			for _, dim := range []int{4, 16, 48, 64, 80, 128, 256} {
				for _, pitch := range []int{1, 5, 16, 31, 32, 100} {
					for _, at := range []int{0, pitch / 2, pitch - 1} {
						storeCase(t, r, s, dim, pitch, at, false)
						storeCase(t, r, s, dim, pitch, at, true)
					}
				}
			}
		})
	}
}

func storeCase(t *testing.T, r *rand.Rand, s *Set, dim, pitch, at int, strangely bool) {
	what := fmt.Sprintf("dim %d, pitch %d, position %d", dim, pitch, at)
	k, v := random(r, dim), random(r, dim)
	for d := range k {
		v[d] *= 1e-20
	}
	if strangely {
		k, v = strange(r, k), strange(r, v)
	}
	got := newTestPage(r, pitch, dim)
	want := *got
	want.k16, want.v16, want.k8, want.v8 = slices.Clone(got.k16), slices.Clone(got.v16), slices.Clone(got.k8), slices.Clone(got.v8)
	want.ks, want.vs = slices.Clone(got.ks), slices.Clone(got.vs)
	s.StoreBF16(k, v, got.k16, got.v16, pitch, at)
	s.StoreInt8(k, v, got.k8, got.v8, got.ks, got.vs, pitch, at)
	want.put(k, v, at)
	if !slices.Equal(got.k16, want.k16) || !slices.Equal(got.v16, want.v16) {
		t.Fatalf("%s: bf16 differs from plain Go's", what)
	}
	if !bytes.Equal(got.k8, want.k8) || !bytes.Equal(got.v8, want.v8) {
		t.Fatalf("%s: int8 differs from plain Go's", what)
	}
	sameNumbers(t, what+": scales of K", got.ks, want.ks)
	sameNumbers(t, what+": scales of V", got.vs, want.vs)
	for d := range k {
		readBack(t, what, k[d], got.k16[d*pitch+at], got.k8[d/4*4*pitch+4*at+d%4]^0x80, got.ks[at])
		readBack(t, what, v[d], got.v16[at*dim+d], got.v8[at/4*4*dim+4*d+at%4], got.vs[at])
	}
}

// readBack checks one number: 8 bits of it in bf16, a byte times a scale in int8.
func readBack(t *testing.T, what string, x float32, half uint16, b byte, scale float32) {
	t.Helper()
	h, exact := float64(widen(half)), float64(x)
	switch {
	case x != x:
		if h == h {
			t.Fatalf("%s: a NaN is %v in bf16", what, h)
		}
	case math.Abs(exact) < math.MaxFloat32 && math.Abs(h-exact) > math.Abs(exact)/256+1e-40:
		t.Fatalf("%s: %v is %v in bf16", what, x, h)
	case math.IsInf(exact, 0) && h != exact:
		t.Fatalf("%s: %v is %v in bf16", what, x, h)
	}
	if whole := float64(int8(b)) * float64(scale); scale < math.MaxFloat32 && math.Abs(whole-exact) > float64(scale)*0.5001+1e-32 {
		t.Fatalf("%s: %v is %v in int8, the scale being %v", what, x, whole, scale)
	}
}

// TestStoreBF16Ties: halves go to even, and what rounds up beyond all numbers is infinite.
func TestStoreBF16Ties(t *testing.T) {
	in := []uint32{0x3f808000, 0x3f818000, 0x3f808001, 0x3f807fff, 0x7f7fffff, 0xff7f8000, 0xffffffff, 0x7f800001,
		0x80000000, 1, 0x00018000, 0x7fffffff, 0xbf808000, 0xbf818000, 0x7f800000, 0xff800000}
	want := []uint16{0x3f80, 0x3f82, 0x3f81, 0x3f80, 0x7f80, 0xff80, 0xffff, 0x7fc0,
		0x8000, 0, 0x0002, 0x7fff, 0xbf80, 0xbf82, 0x7f80, 0xff80}
	x := make([]float32, len(in))
	for i, bits := range in {
		x[i] = math.Float32frombits(bits)
	}
	for _, s := range All() {
		k, v := make([]uint16, len(in)), make([]uint16, len(in))
		s.StoreBF16(x, x, k, v, 1, 0)
		if !slices.Equal(k, want) || !slices.Equal(v, want) {
			t.Errorf("%s: K %#04x, V %#04x, want %#04x", s.Name, k, v, want)
		}
	}
}

// TestQuantiseQuery compares with plain Go, and what is packed with what it stands for.
func TestQuantiseQuery(t *testing.T) {
	for _, s := range All() {
		r := rand.New(rand.NewPCG(11, 11))
		for _, dim := range []int{4, 16, 48, 64, 80, 128, 256} {
			for i := range 20 {
				q := random(r, dim)
				if i%2 > 0 {
					q = strange(r, q)
				}
				if i == 19 {
					clear(q)
				}
				got := bytes.Repeat([]byte{0xa5}, QueryLen(dim)+1)
				want := slices.Clone(got)
				s.QuantiseQuery(q, got)
				quantiseQueryGo(q, want)
				if g, w := float32At(got, 4*dim), float32At(want, 4*dim); g != g && w != w {
					copy(got[4*dim:][:4], want[4*dim:]) // a NaN has many forms
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%s: dim %d: %v is packed as % x, by plain Go % x", s.Name, dim, q, got, want)
				}
				checkQuery(t, q, got)
			}
		}
	}
}

func checkQuery(t *testing.T, q []float32, packed []byte) {
	t.Helper()
	scale := float64(float32At(packed, 4*len(q)))
	if !(scale < math.MaxFloat32) {
		return
	}
	for d, x := range q {
		n := 128*int(int8(packed[d])) + int(int8(packed[len(q)+d]))
		if math.Abs(float64(n)*scale-float64(x)) > 0.503*scale {
			t.Fatalf("%v is %d times %v", x, n, scale)
		}
	}
}
