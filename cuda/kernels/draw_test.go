package kernels

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

// drawCases are ways to draw, and what logits are like: their spread, and how many different
// ones there are at most, 0 for any number.
var drawCases = []struct {
	sampling.Params
	spread float64
	kinds  int
}{
	{sampling.Params{}, 3, 0},
	{sampling.Params{Temperature: 1}, 3, 0},
	{sampling.Params{Temperature: 0.7}, 20, 0},
	{sampling.Params{Temperature: 3, TopK: 40}, 3, 0},
	{sampling.Params{Temperature: 1, TopK: 7}, 3, 20},
	{sampling.Params{Temperature: 1, TopK: 100000}, 3, 0},
	{sampling.Params{Temperature: 1, TopP: 0.9}, 6, 0},
	{sampling.Params{Temperature: 1, TopP: 0.6}, 2, 9},
	{sampling.Params{Temperature: 0.3, TopP: 0.999}, 1, 0},
	{sampling.Params{Temperature: 1, MinP: 0.1}, 8, 0},
	{sampling.Params{Temperature: 1.3, TopK: 50, TopP: 0.8, MinP: 0.02}, 8, 0},
	{sampling.Params{Temperature: 1, TopK: 1}, 8, 0},
}

// Rows are drawn as a Sampler draws them.
func TestDraw(t *testing.T) {
	onBoth(t, func(r *rig) {
		const n, times, blocks = 1500, 4, 5
		var logits []float32
		var records []byte
		var want []int32
		sampler := sampling.NewSampler(n)
		for i, c := range drawCases {
			for j := range times {
				row := make([]float32, n)
				for k := range row {
					row[k] = float32(c.spread * r.random.NormFloat64())
					if c.kinds > 0 {
						row[k] = float32(k * 7 % c.kinds)
					}
					if k%11 == 3 {
						row[k] = float32(math.Inf(-1))
					}
				}
				if j == times-1 && i%3 == 0 {
					row[r.random.IntN(n)] = float32(math.NaN())
				}
				key := sampling.Key{Seed: r.random.Uint64(), Child: int32(j), Position: int32(17 * i)}
				logits = append(logits, row...)
				records = append(records, make([]byte, DrawBytes)...)
				PutDraw(records[len(records)-DrawBytes:], &c.Params, key)
				var out sampling.Drawn
				err := sampler.Sample(row, &c.Params, sampling.History{}, key, &out)
				if errors.Is(err, sampling.ErrLogits) {
					out.ID = -1
				} else {
					r.ok(err)
				}
				want = append(want, out.ID)
			}
		}
		ids := r.room(4 * len(want))
		r.ok(r.set.Draw(r.stream, ids, r.floats(logits), r.put(records), r.room(DrawScratch(blocks, n)), len(want), n, blocks))
		for i, got := range r.getInts(ids, len(want)) {
			if got != want[i] {
				r.Errorf("%s, time %d: %d is drawn, want %d", fmt.Sprintf("%+v", drawCases[i/times]), i%times, got, want[i])
			}
		}
	})
}

func TestDraws(t *testing.T) {
	for _, c := range []struct {
		params sampling.Params
		known  bool
	}{
		{sampling.Params{}, true},
		{sampling.Params{Temperature: 1, TopK: 3, TopP: 0.5, MinP: 0.1, TypicalP: 1}, true},
		{sampling.Params{TypicalP: 0.5}, false},
		{sampling.Params{RepetitionPenalty: 1.2}, false},
		{sampling.Params{PresencePenalty: 1}, false},
		{sampling.Params{MinNew: 1, Ends: []int32{2}}, false},
		{sampling.Params{Tell: sampling.Tell{Logprobs: true}}, false},
	} {
		if got := Draws(&c.params); got != c.known {
			t.Errorf("%+v is known: %t, want %t", c.params, got, c.known)
		}
	}
}
