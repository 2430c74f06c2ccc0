package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda"
)

// adapters are places filled with random numbers, and the joint of a test.
type adapters struct {
	Lora
	memory []float32
}

// newAdapters makes places for a joint of three modules, which has another before it.
func (r *rig) newAdapters(k, places int) *adapters {
	a := &adapters{Lora: Lora{K: k, Joint: 4, Modules: 3, First: 70, Rest: 9, Before: 24, MaxRank: 64}}
	a.Place = a.MaxRank * (a.Before + a.Modules*k + a.columns())
	a.memory = r.numbers(places*a.Place, 0.3)
	a.Adapters = r.halves(a.memory)
	return a
}

func (a *Lora) columns() int { return a.First + (a.Modules-1)*a.Rest }

// want is what the adapter in a place, of a rank, adds to a row, by the definition.
func (a *adapters) want(x []float32, place, rank int) []float64 {
	out := make([]float64, a.columns())
	down := a.memory[place*a.Place+rank*a.Before:]
	up := down[rank*a.Modules*a.K:]
	low := product(x, down, 1, a.Modules*rank, a.K)
	for c := range out {
		module := 0
		if c >= a.First {
			module = 1 + (c-a.First)/a.Rest
		}
		for i := range rank {
			out[c] += low[module*rank+i] * float64(up[c*rank+i])
		}
	}
	return out
}

// untouched is what a row holds that nothing is written to.
const untouched = 99

// run adds to t rows x what the items say.
func (a *adapters) run(r *rig, x []float32, t int, items ...int32) []float32 {
	r.Helper()
	l, delta := a.Lora, make([]float32, t*a.columns())
	for i := range delta {
		delta[i] = untouched
	}
	l.Delta, l.Low, l.X = r.halves(delta), r.room(4*LoraFloats(t, a.K, a.Modules, a.MaxRank)), r.halves(x)
	l.Items, l.Count, l.T = r.ints(items...), len(items)/LoraItem, t
	r.ok(r.set.Lora(r.stream, &l))
	return r.getHalves(l.Delta, len(delta))
}

// Tokens have adapters of several places and ranks, one that does not add to the joint, or none.
func TestLora(t *testing.T) {
	onBoth(t, func(r *rig) {
		const k, tokens = 96, 24
		a := r.newAdapters(k, 3)
		x := r.numbers(tokens*k, 1)
		got := a.run(r, x, tokens, 0, 4, 2, 32, 4, 5, 16, 1, 64, 7, 0, 0, 0, 0, 0, 21, 1, 0, 32, 3, 22, 2, 0, 32, 5)
		n := a.columns()
		for i := range tokens {
			place, rank := 2, 32
			switch {
			case i == 4 || i == 21:
				for _, v := range got[i*n:][:n] {
					if v != untouched {
						r.Fatalf("token %d, to which nothing is added, has %g", i, v)
					}
				}
				continue
			case i >= 22:
				place = 0
			case i > 4:
				place, rank = 1, 64
			}
			r.near(fmt.Sprint("token ", i), got[i*n:][:n], a.want(x[i*k:][:k], place, rank), 2*ofHalf)
		}
	})
}

// What is added to a row has the same bits alone and among many, whoever adds up the ranges of K.
func TestLoraIsBatchInvariant(t *testing.T) {
	onBoth(t, func(r *rig) {
		const k, tokens = 2*loraRange + 96, loraSplit + 9
		a := r.newAdapters(k, 2)
		x, n := r.numbers(tokens*k, 1), a.columns()
		if loraParts(1, k) != 3 || loraParts(tokens, k) != 1 {
			r.Fatalf("%d parts of a row, %d of many", loraParts(1, k), loraParts(tokens, k))
		}
		many := a.run(r, x, tokens, 20, 16, 0, 32, 4, 36, 5, 1, 64, 4)
		for _, c := range []struct{ row, place, rank int32 }{{22, 0, 32}, {40, 1, 64}} {
			alone := a.run(r, x[c.row*k:][:k], 1, 0, 1, c.place, c.rank, 4)
			r.same(fmt.Sprint("row ", c.row), alone, many[int(c.row)*n:][:n])
		}
	})
}

// Who reads a product adds what adapters add as it adds a bias, behind that, to the rows that have
// adapters for it.
func TestAddedIsLikeABias(t *testing.T) {
	onBoth(t, func(r *rig) {
		const rows, n, half = 3, 2 * 40, 40
		delta, nothing := r.numbers(n, 1), make([]float32, n)
		behind := append(make([]float32, n), delta...) // what the second row gets
		turns := make([]float32, n)                    // as gate and up have their biases
		for i := range half {
			turns[2*i], turns[2*i+1] = delta[i], delta[half+i]
		}
		added := Added{Delta: r.halves(append(behind, delta...)), Adapted: r.ints(2, 6, 3), Joint: 4}
		parts, x, w := r.floats(r.numbers(rows*n, 1)), r.halves(r.numbers(rows*64, 1)), r.halves(r.numbers(n*64, 1))
		pos, slot, table := r.ints(0, 1, 2), r.ints(0, 0, 0), r.ints(0)
		for name, read := range map[string]func(bias cuda.Pointer, added Added) []float32{
			"residual": func(bias cuda.Pointer, added Added) []float32 {
				stream, y := r.floats(make([]float32, rows*n)), r.room(2*rows*n)
				r.ok(r.set.Residual(r.stream, stream, y, parts, bias, added, 0, 0, 1, rows, n, n, 1, testEps))
				return r.getFloats(stream, rows*n)
			},
			"queries": func(bias cuda.Pointer, added Added) []float32 {
				q := r.room(2 * rows * n)
				r.ok(r.set.QKV(r.stream, &QKV{Q: q, Pool: r.room(2 * 4 * 2 * n), Parts: parts, Bias: bias, Added: added, Pos: pos, Slot: slot, Tables: table,
					Count: 1, T: rows, Heads: 3, KVHeads: 1, Dim: 16, Eps: testEps, Scale: 1, Pages: 1, Page: 4, BlockStride: 4 * 2 * n}))
				return r.getHalves(q, rows*3*16)
			},
			"gates": func(bias cuda.Pointer, added Added) []float32 {
				y := r.room(2 * rows * half)
				r.ok(r.set.GemmGate(r.stream, y, x, Weights{At: w}, bias, added, rows, n, 64, half, 0))
				return r.getHalves(y, rows*half)
			},
			"gates of a product": func(bias cuda.Pointer, added Added) []float32 {
				y := r.room(2 * rows * half)
				r.ok(r.set.GateParts(r.stream, y, parts, bias, added, rows, n, half, 0))
				return r.getHalves(y, rows*half)
			},
		} {
			bias := delta
			if strings.HasPrefix(name, "gates") {
				bias = turns
			}
			plain, biased := read(r.floats(nothing), Added{}), read(r.floats(bias), Added{})
			got := read(0, added)
			row := len(got) / rows
			r.same(name+" without", append(got[:row:row], got[2*row:]...), append(plain[:row:row], plain[2*row:]...))
			r.same(name+" with", got[row:2*row], biased[row:2*row])
			if got[row] == plain[row] {
				r.Errorf("%s: nothing is added", name)
			}
		}
	})
}

// loraRight runs a small Lora, and is what is told of it.
func (r *rig) loraRight() error {
	const k = 320
	a, x := r.newAdapters(k, 1), r.numbers(2*k, 1)
	l := a.Lora
	l.Delta, l.Low, l.X = r.room(2*2*a.columns()), r.room(4*LoraFloats(2, k, a.Modules, a.MaxRank)), r.halves(x)
	l.Items, l.Count, l.T = r.ints(0, 2, 0, 64, 4), 1, 2
	if err := r.told(r.set.Lora(r.stream, &l)); err != nil {
		return err
	}
	return compared(r.getHalves(l.Delta, a.columns()), a.want(x[:k], 0, 64), 0.1)
}
