package weights

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/cbactor/cbactor/model"
	"pgregory.net/rapid"
)

// nearest is a narrow type's number by definition: the one that is nearest, of two
// the even one. Its finite numbers ascend with their bits.
func nearest(x float32, t model.DType) uint16 {
	wide := func(h uint16) float64 {
		return float64(number(binary.LittleEndian.AppendUint16(nil, h), t))
	}
	infinite, beyond := uint16(0x7c00), 65536.0 // what would be next to the largest
	if t == model.BF16 {
		infinite, beyond = 0x7f80, math.Ldexp(1, 128)
	}
	size := math.Abs(float64(x))
	lo, hi := uint16(0), infinite
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; wide(mid) <= size {
			lo = mid
		} else {
			hi = mid
		}
	}
	above := beyond
	if hi != infinite {
		above = wide(hi)
	}
	best := lo
	if d, e := size-wide(lo), above-size; d > e || d == e && lo&1 == 1 {
		best = hi
	}
	if math.Signbit(float64(x)) {
		best |= 0x8000
	}
	return best
}

func TestCastRoundsToNearest(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, x float32) {
		if got, want := model.ToF16(x), nearest(x, model.F16); got != want {
			t.Errorf("%g as F16: %#04x, want %#04x", x, got, want)
		}
		four, out := binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)), make([]byte, 10)
		cast(out, model.BF16, bytes.Repeat(four, 5), model.F32)
		for i := 0; i < 10; i += 2 {
			if got, want := binary.LittleEndian.Uint16(out[i:]), nearest(x, model.BF16); got != want {
				t.Errorf("%g as BF16: %#04x, want %#04x", x, got, want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if x-x == 0 {
			check(t, x)
		}
	})
	for h := range uint16(0x7c00) { // each half, ties between halves, and what is next to them
		x := number(binary.LittleEndian.AppendUint16(nil, h), model.F16)
		next := number(binary.LittleEndian.AppendUint16(nil, h+1), model.F16)
		tie := x + (next-x)/2
		if h == 0x7bff {
			tie = 65520
		}
		for _, y := range []float32{x, -x, tie, math.Nextafter32(tie, 0), math.Nextafter32(tie, 1e6)} {
			check(t, y)
		}
	}
	for _, x := range []float32{math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32} {
		check(t, x)
	}
}

// A cast there and back is the identity where the wider type is in between.
func TestCastWidensExactly(t *testing.T) {
	for _, kind := range []model.DType{model.F16, model.BF16} {
		var all []byte
		for h := range 1 << 16 {
			if b := binary.LittleEndian.AppendUint16(nil, uint16(h)); notFinite(b, kind) < 0 {
				all = append(all, b...)
			}
		}
		wide, back := make([]byte, 2*len(all)), make([]byte, len(all))
		cast(wide, model.F32, all, kind)
		cast(back, kind, wide, model.F32)
		if string(back) != string(all) {
			t.Errorf("%s changed", kind)
		}
		if n := testing.AllocsPerRun(5, func() { cast(back, kind, wide, model.F32) }); n != 0 {
			t.Errorf("%g allocations", n)
		}
	}
}

// The first number that is not finite is found wherever it is.
func TestNotFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(floats).Draw(t, "type")
		unit := kind.RowBytes(1)
		data := rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "data")
		data = data[:len(data)/unit*unit]
		if rapid.Bool().Draw(t, "mostly finite") {
			for i := unit - 1; i < len(data); i += unit {
				data[i] &= 0xbb // a bit of each exponent is clear
			}
			if len(data) > 0 && rapid.Bool().Draw(t, "one") {
				at := rapid.IntRange(0, len(data)/unit-1).Draw(t, "at") * unit
				copy(data[at:], map[int][]byte{4: {0, 0, 0x80, 0xff}, 2: {0x80, 0xff}}[unit])
			}
		}
		want := -1
		for i := 0; i < len(data) && want < 0; i += unit {
			if x := float64(number(data[i:], kind)); math.IsNaN(x) || math.IsInf(x, 0) {
				want = i / unit
			}
		}
		if got := notFinite(data, kind); got != want {
			t.Fatalf("%s: got %d, want %d", kind, got, want)
		}
	})
}

func TestRangesEqualAnArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ranges
		var seen [60]bool
		for range rapid.IntRange(0, 30).Draw(t, "spans") {
			lo := rapid.IntRange(0, 58).Draw(t, "lo")
			s := span{lo, rapid.IntRange(lo+1, 60).Draw(t, "hi")}
			there := map[int]bool{}
			r.overlaps(s, func(o span) bool {
				for i := o.lo; i < o.hi; i++ {
					there[i] = true
				}
				return o.lo < o.hi
			})
			for i := range seen {
				if there[i] != (seen[i] && i >= s.lo && i < s.hi) {
					t.Fatalf("%v overlaps %v at %d: %v", r, s, i, there[i])
				}
			}
			r.add(s)
			for i := s.lo; i < s.hi; i++ {
				seen[i] = true
			}
			prefix := 0
			for prefix < 60 && seen[prefix] {
				prefix++
			}
			if r.prefix() != prefix {
				t.Fatalf("%v has the prefix %d, want %d", r, r.prefix(), prefix)
			}
			for i := range seen {
				if r.has(i) != seen[i] {
					t.Fatalf("%v at %d: %v", r, i, !seen[i])
				}
			}
			for i := 1; i < len(r); i++ {
				if r[i].lo <= r[i-1].hi {
					t.Fatalf("%v touch", r)
				}
			}
		}
	})
}
