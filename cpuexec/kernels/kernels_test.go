package kernels

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// random is n values of size 1 or so, of both signs.
func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// sameBits compares what a Set computed with what plain Go did.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: value %d is %v, plain Go has %v", what, i, got[i], want[i])
		}
	}
}

// eachNative runs f for every assembly Set of the CPU.
func eachNative(t *testing.T, f func(t *testing.T, s *Set)) {
	if len(native()) == 0 {
		t.Skip("this CPU runs plain Go only")
	}
	for _, s := range native() {
		t.Run(s.Name, func(t *testing.T) { f(t, s) })
	}
}

func TestFMARoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		a, b := float32(r.NormFloat64()), float32(r.NormFloat64())
		// near -a*b, where the second rounding of a naive sum shows
		c := float32(-float64(a)*float64(b)) * (1 + float32(r.IntN(5)-2)*0x1p-20)
		if r.IntN(2) == 0 {
			c = float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30))
		}
		exact := new(big.Float).SetPrec(300).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		want, _ := exact.Add(exact, big.NewFloat(float64(c))).Float32()
		if got := fma(a, b, c); got != want {
			t.Fatalf("fma(%v, %v, %v) = %v, want %v", a, b, c, got, want)
		}
	}
}

// TestFMARoundsOnceBelowNormal: the sum lies just under the middle of two denormals, where
// float64 rounds it to, from where an odd one would be rounded up.
func TestFMARoundsOnceBelowNormal(t *testing.T) {
	a, b := float32(0x1p-75*(1+0x1p-23)), float32(0x1p-75*(1-0x1p-23))
	c := math.Float32frombits(0x400001)
	if got := fma(a, b, c); got != c {
		t.Errorf("fma(%v, %v, %v) = %v", a, b, c, got)
	}
	sums := []float32{c}
	if addProducts(sums, []float32{a}, b); sums[0] != c {
		t.Errorf("addProducts makes %v of %v", sums[0], c)
	}
}

func TestExp2(t *testing.T) {
	for x := float32(-126); x < 126; x += 0.013 {
		want := math.Exp2(float64(x))
		if got := float64(exp2(x)); math.Abs(got/want-1) > 3e-7 {
			t.Fatalf("exp2(%v) = %v, want %v", x, got, want)
		}
	}
	if x := float32(math.NaN()); exp2(x) == exp2(x) {
		t.Fatal("exp2 lost a NaN")
	}
}

// attention computes a head the textbook way, in float64.
func attention(q []float32, k, v [][]float32) []float64 {
	top, weights := math.Inf(-1), make([]float64, len(k))
	for j := range k {
		for d := range q {
			weights[j] += float64(q[d]) * float64(k[j][d])
		}
		top = max(top, weights[j])
	}
	sum, out := 0.0, make([]float64, len(q))
	for j := range v {
		w := math.Exp2(weights[j] - top)
		sum += w
		for d := range out {
			out[d] += w * float64(v[j][d])
		}
	}
	for d := range out {
		out[d] /= sum
	}
	return out
}

// page lays positions out as a cache page; the places behind are NaN, as a block
// that was used before may have them.
func page(k, v [][]float32, pitch, dim int) (kp, vp []float32) {
	kp, vp = make([]float32, dim*pitch+Tile), make([]float32, pitch*dim)
	for i := range kp {
		kp[i] = float32(math.NaN())
	}
	for i := range vp {
		vp[i] = float32(math.NaN())
	}
	for j := range k {
		for d := range dim {
			kp[d*pitch+j], vp[j*dim+d] = k[j][d], v[j][d]
		}
	}
	return kp, vp
}

func TestAttend(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 3))
			for _, dim := range []int{6, 16, 48, 64, 80, 128} {
				for _, pitch := range []int{1, 5, 16, 32} {
					for _, n := range []int{1, 2, 31, 32, 33, 70} {
						attendCase(t, r, s, dim, pitch, n)
					}
				}
			}
		})
	}
}

func attendCase(t *testing.T, r *rand.Rand, s *Set, dim, pitch, n int) {
	what := fmt.Sprintf("dim=%d pitch=%d n=%d", dim, pitch, n)
	q := random(r, dim)
	for d := range q {
		q[d] /= float32(math.Sqrt(float64(dim)))
	}
	got, want := make([]float32, StateLen(dim)), make([]float32, StateLen(dim))
	ResetState(got)
	ResetState(want)
	var k, v [][]float32
	for at := 0; at < n; at += pitch {
		some := min(pitch, n-at)
		for range some {
			k, v = append(k, random(r, dim)), append(v, random(r, dim))
		}
		kp, vp := page(k[at:], v[at:], pitch, dim)
		s.Attend(q, kp, vp, nil, got, pitch, []int32{int32(some)}, dim, 0)
		attendGo(q, kp, vp, nil, want, pitch, []int32{int32(some)}, dim, 0)
		sameBits(t, what, got, want)
	}
	out := make([]float32, dim)
	FinishState(got, out)
	for d, w := range attention(q, k, v) {
		if math.Abs(float64(out[d])-w) > 2e-6*(1+math.Abs(w)) {
			t.Fatalf("%s: out[%d] = %v, want %v", what, d, out[d], w)
		}
	}
}

func TestAttendKeepsNaN(t *testing.T) {
	for _, s := range All() {
		r := rand.New(rand.NewPCG(4, 4))
		q, k, v := random(r, 16), random(r, 16*32), random(r, 32*16)
		k[5*32+9] = float32(math.NaN())
		state, out := make([]float32, StateLen(16)), make([]float32, 16)
		ResetState(state)
		s.Attend(q, k, v, nil, state, 32, []int32{32}, 16, 0)
		FinishState(state, out)
		if i := slices.IndexFunc(out, func(x float32) bool { return x == x }); i >= 0 {
			t.Errorf("%s: out[%d] = %v of a NaN key", s.Name, i, out[i])
		}
	}
}

func TestRowKernelsEqualTwins(t *testing.T) {
	eachNative(t, func(t *testing.T, s *Set) {
		r := rand.New(rand.NewPCG(5, 5))
		for _, rows := range []int{1, 3, 8} {
			src, a := random(r, rows*2*Panel), random(r, rows*40)
			b := slices.Clone(a)
			for _, stride := range []int{0, 2 * Panel} {
				s.AddTile(a, src, rows, 40, stride)
				addTileGo(b, src, rows, 40, stride)
				sameBits(t, "AddTile", a, b)
			}
		}
		for _, n := range []int{3, 16, 100, 576} {
			padded := (n + 15) / 16 * 16
			x, w := random(r, padded), random(r, padded)
			clear(x[n:])
			a, b := make([]float32, padded), make([]float32, padded)
			s.Norm(x, w, a, n, 1e-5)
			normGo(x, w, b, n, 1e-5)
			sameBits(t, "Norm", a, b)
		}
		for _, dim := range []int{2, 8, 16, 32, 64, 96, 128} {
			a := random(r, 3*dim)
			b := slices.Clone(a)
			cos, sin := random(r, dim/2), random(r, dim/2)
			s.Rope(a, cos, sin, dim, 0.37)
			ropeGo(b, cos, sin, dim, 0.37)
			sameBits(t, "Rope", a, b)
		}
	})
}

// TestTranspose compares every Set with the definition; nothing else is written.
func TestTranspose(t *testing.T) {
	for _, s := range All() {
		r := rand.New(rand.NewPCG(7, 7))
		for _, k := range []int{1, 7, 8, 17, 128} {
			for _, pad := range []int{0, 5} {
				x, w := random(r, Panel*(k+pad)), make([]float32, (k+1)*Panel)
				s.Transpose(x, w, k, k+pad)
				for i := range w {
					want := float32(0)
					if i < k*Panel {
						want = x[i%Panel*(k+pad)+i/Panel]
					}
					if w[i] != want {
						t.Fatalf("%s: k=%d: value %d is %v, want %v", s.Name, k, i, w[i], want)
					}
				}
			}
		}
	}
}

// TestValues checks plain Go, and so all Sets, against the formulas.
func TestValues(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	near := func(what string, got float32, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	x, w, out := random(r, 32), random(r, 32), make([]float32, 32)
	clear(x[20:])
	normGo(x, w, out, 20, 1e-5)
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	for i, v := range out[:20] {
		near("norm", v, float64(x[i])/math.Sqrt(sum/20+1e-5)*float64(w[i]))
	}
	y := slices.Clone(x[:4])
	ropeGo(y, []float32{0.6, 1}, []float32{0.8, 0}, 4, 2)
	near("rope", y[0], 2*(0.6*float64(x[0])-0.8*float64(x[2])))
	near("rope", y[2], 2*(0.6*float64(x[2])+0.8*float64(x[0])))
	near("rope", y[1], 2*float64(x[1]))
}

func TestChoose(t *testing.T) {
	best, err := Choose("")
	if err != nil || best != All()[0] {
		t.Errorf("fastest is %v, %v", best, err)
	}
	plain, err := Choose("generic")
	if err != nil || plain != generic {
		t.Errorf("generic is %v, %v", plain, err)
	}
	if _, err := Choose("mmx"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("mmx: %v", err)
	}
}
