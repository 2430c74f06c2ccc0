package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAttendBounds compares with attention in float64 over the numbers before they were
// rounded. What a cache of few bits may differ by follows from its rounding.
func TestAttendBounds(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(12, 12))
			for _, dim := range []int{16, 64, 80, 128} {
				for _, n := range []int{1, 7, 32, 100} {
					for _, size := range []float32{0.2, 1, 3} {
						boundCase(t, r, s, dim, n, size)
					}
				}
			}
		})
	}
}

func boundCase(t *testing.T, r *rand.Rand, s *Set, dim, n int, size float32) {
	q, k, v := random(r, dim), make([][]float32, n), make([][]float32, n)
	for d := range q {
		q[d] *= size / float32(math.Sqrt(float64(dim)))
	}
	p := newTestPage(r, n, dim)
	for j := range k {
		k[j], v[j] = random(r, dim), random(r, dim)
		p.put(k[j], v[j], j)
	}
	want := attention(q, k, v)
	for _, typ := range attendTypes {
		state, out := make([]float32, StateLen(dim)), make([]float32, dim)
		ResetState(state)
		for at := 0; at < n; at += Tile {
			typ.attend(s, p, q, state, at, []int32{int32(min(Tile, n-at))}, 0)
		}
		FinishState(state, out)
		bound := 2e-6
		if steps, ok := roundings[typ.name]; ok {
			bound += steps.bound(q, k, v)
		}
		for d, w := range want {
			if math.Abs(float64(out[d])-w) > bound*(1+math.Abs(w)) {
				t.Fatalf("%s: dim %d, %d positions of size %v: out[%d] = %v, want %v within %v",
					typ.name, dim, n, size, d, out[d], w, bound)
			}
		}
	}
}

// rounding is half a step of the numbers of K and of V, which depend on the number itself
// or on the largest of its position, and of a query's, a share of the largest. Weights are
// rounded by half of a 32767th of the largest weight times scale, each of 32 of a tile.
type rounding struct {
	cache   func(x, top float64) float64
	query   float64
	weights float64
}

var roundings = map[string]rounding{
	"bf16": {func(x, _ float64) float64 { return math.Abs(x) / 256 }, 0, 0},
	"int8": {func(_, top float64) float64 { return top / 254 }, 1.0 / (2 * queryTop), 32.0 / (2 * weightTop)},
}

// bound: where no score is wrong by more than e, weights are by a factor of 2^(2e) at most,
// and what they sum by so much of what V reaches; to which V's own rounding is added.
func (f rounding) bound(q []float32, k, v [][]float32) float64 {
	e, reach, own, qStep := 0.0, 0.0, 0.0, f.query*largestOf(q)
	for j := range k {
		score, kTop, vTop := 0.0, largestOf(k[j]), largestOf(v[j])
		for d := range q {
			step := f.cache(float64(k[j][d]), kTop)
			score += math.Abs(float64(q[d]))*step + qStep*(math.Abs(float64(k[j][d]))+step)
			own = max(own, f.cache(float64(v[j][d]), vTop))
		}
		e, reach = max(e, score), max(reach, vTop)
	}
	return own + f.weights*reach + (math.Exp2(2*e)-1)*2*(reach+own)
}

func largestOf(x []float32) (most float64) {
	for _, v := range x {
		most = max(most, math.Abs(float64(v)))
	}
	return most
}

// TestAttendMean: where all scores are equal, int8 answers the mean of
// V as it is stored, to half a 32767th.
func TestAttendMean(t *testing.T) {
	const dim = 64
	r := rand.New(rand.NewPCG(13, 13))
	for _, s := range All() {
		p, want := newTestPage(r, Tile, dim), make([]float64, dim)
		for j := range Tile {
			v := random(r, dim)
			p.put(make([]float32, dim), v, j)
			for d := range want {
				stored := float64(int8(p.v8[j/4*4*dim+4*d+j%4])) * float64(p.vs[j])
				want[d] += stored / Tile
			}
		}
		state, out := make([]float32, StateLen(dim)), make([]float32, dim)
		ResetState(state)
		attendTypes[2].attend(s, p, random(r, dim), state, 0, []int32{Tile}, 0)
		FinishState(state, out)
		for d, w := range want {
			if math.Abs(float64(out[d])-w) > 127*float64(p.vs[0])/weightTop {
				t.Fatalf("%s: out[%d] is %v, the mean of V %v", s.Name, d, out[d], w)
			}
		}
	}
}

// TestLargestScores has the largest products that there are, both signs, of heads of as many
// elements as there may be: the answer is V of the position whose score is positive.
func TestLargestScores(t *testing.T) {
	const dim, pitch = MaxInt8Dim, Tile
	k, v := make([]byte, dim*pitch+4*Tile), make([]byte, 4*dim)
	for d := range dim {
		k[d/4*4*pitch+d%4], k[d/4*4*pitch+4+d%4] = 127+128, 128-127
		v[4*d], v[4*d+1] = 1, 2
	}
	q, packed, scales, out := make([]float32, dim), make([]byte, QueryLen(dim)), slices.Repeat([]float32{1}, Tile), make([]float32, dim)
	for _, set := range All() {
		for sign, want := range map[float32]float32{1: 1, -1: 2} {
			for d := range q {
				q[d] = sign
			}
			set.QuantiseQuery(q, packed)
			state := make([]float32, StateLen(dim))
			ResetState(state)
			set.AttendInt8(packed, k, v, nil, scales, scales, state, pitch, []int32{2}, dim, 0)
			FinishState(state, out)
			if off := math.Abs(float64(out[dim-1] - want)); !(off < 1e-3) {
				t.Errorf("%s: queries of %v answer %v, want %v", set.Name, sign, out[dim-1], want)
			}
		}
	}
}
