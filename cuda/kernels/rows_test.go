package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/cbactor/cbactor/cuda"
)

const testEps = 1e-5

func TestEmbed(t *testing.T) {
	onBoth(t, func(r *rig) {
		const vocab, hidden, ld = 39, 37, 64
		ids, last, pos := []int32{33, 0, -1 - 2, -1 - 1, 5}, []int32{8, -1, 7}, []int32{0, 4, 9, 2, -1}
		x := r.room(4 * len(ids) * hidden)
		for _, f := range formats {
			at, table := r.matrix(f, vocab, ld)
			r.ok(r.set.Embed(r.stream, x, at, r.ints(ids...), r.ints(last...), r.ints(pos...), len(ids), hidden, ld, 1.5))
			got := r.getFloats(x, len(ids)*hidden)
			for i, id := range []int{33, 0, 7} {
				for c := range hidden {
					if want := 1.5 * table[id*ld+c]; got[i*hidden+c] != want {
						r.Fatalf("%s: token %d, column %d is %g, want %g", f, i, c, got[i*hidden+c], want)
					}
				}
			}
			for c := range hidden {
				if x := got[3*hidden+c]; x == x {
					r.Fatalf("%s: column %d of a token that is not known is %g, want NaN", f, c, x)
				}
				if x := got[4*hidden+c]; x != 0 {
					r.Fatalf("%s: column %d of padding is %g, want 0", f, c, x)
				}
			}
		}
	})
}

func TestNorm(t *testing.T) {
	onBoth(t, func(r *rig) {
		const rows, hidden, width = 3, 301, 320
		x, w := r.numbers(rows*hidden, 2), r.numbers(hidden, 1)
		from := []int32{2, 0}
		xs, ws := r.floats(x), r.floats(w)
		y := r.halves(make([]float32, rows*width))
		r.ok(r.set.Norm(r.stream, y, xs, r.ints(from...), ws, len(from), hidden, width, testEps))
		got := r.getHalves(y, len(from)*width)
		for i, f := range from {
			r.near("with from", got[i*width:], normed(wide(x[int(f)*hidden:][:hidden]), w, testEps), ofHalf)
			r.same("padding", got[i*width+hidden:][:width-hidden], make([]float32, width-hidden))
		}
		r.ok(r.set.Norm(r.stream, y, xs, 0, 0, rows, hidden, width, testEps))
		got = r.getHalves(y, rows*width)
		for i := range rows {
			r.same("as it is", got[i*width:][:hidden], x[i*hidden:][:hidden])
		}
	})
}

func TestResidual(t *testing.T) {
	onBoth(t, func(r *rig) {
		const rows, hidden, width, count, scale = 2, 45, 64, 3, 0.75
		x, parts, bias := r.numbers(rows*hidden, 1), r.numbers(count*rows*hidden, 1), r.numbers(hidden, 1)
		post, pre := r.numbers(hidden, 1), r.numbers(hidden, 1)
		partsAt, biasAt, postAt, preAt := r.floats(parts), r.floats(bias), r.floats(post), r.floats(pre)
		for _, has := range []struct{ bias, post, pre bool }{{}, {true, false, true}, {false, true, false}, {true, true, true}} {
			at := func(p cuda.Pointer, has bool) cuda.Pointer {
				if has {
					return p
				}
				return 0
			}
			xs, y := r.floats(x), r.room(2*rows*width)
			r.ok(r.set.Residual(r.stream, xs, y, partsAt, at(biasAt, has.bias), Added{}, at(postAt, has.post), at(preAt, has.pre),
				count, rows, hidden, width, scale, testEps))
			gotX, gotY := r.getFloats(xs, rows*hidden), r.getHalves(y, rows*width)
			for i := range rows {
				d := make([]float64, hidden)
				for c := range d {
					for p := range count {
						d[c] += float64(parts[(p*rows+i)*hidden+c])
					}
					if has.bias {
						d[c] += float64(bias[c])
					}
				}
				if has.post {
					d = normed(d, post, testEps)
				}
				for c := range d {
					d[c] = float64(x[i*hidden+c]) + scale*d[c]
				}
				r.near(fmt.Sprint("x ", has), gotX[i*hidden:][:hidden], d, ofFloat)
				if has.pre {
					d = normed(d, pre, testEps)
				}
				r.near(fmt.Sprint("y ", has), gotY[i*width:][:hidden], d, ofHalf)
			}
		}
	})
}

func TestShape(t *testing.T) {
	onBoth(t, func(r *rig) {
		const rows, n = 2, 300
		logits := r.numbers(rows*n, 40)
		for _, c := range []struct{ scale, limit float64 }{{0.5, 0}, {0, 30}, {0.25, 5}} {
			at := r.floats(logits)
			r.ok(r.set.Shape(r.stream, at, rows, n, float32(c.scale), float32(c.limit)))
			want := wide(logits)
			for i := range want {
				if c.scale != 0 {
					want[i] *= c.scale
				}
				if c.limit != 0 {
					want[i] = c.limit * math.Tanh(want[i]/c.limit)
				}
			}
			r.near(fmt.Sprint(c), r.getFloats(at, rows*n), want, ofFloat)
		}
	})
}
