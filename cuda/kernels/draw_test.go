package kernels

import (
	"math"
	"os"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

// everything is told of a token.
var everything = sampling.Tell{Logprobs: true, Top: MaxTold}

// drawCases are ways to draw, and what logits are like: their spread, and how many different
// ones there are at most, 0 for any number.
var drawCases = []struct {
	sampling.Params
	spread float64
	kinds  int
}{
	{sampling.Params{}, 3, 0},
	{sampling.Params{Temperature: 1, Tell: everything}, 3, 0},
	{sampling.Params{Temperature: 0.7}, 20, 0},
	{sampling.Params{Temperature: 3, TopK: 40, Tell: everything}, 3, 0},
	{sampling.Params{Temperature: 1, TopK: 7, Tell: everything}, 3, 20},
	{sampling.Params{Temperature: 1, TopK: 100000}, 3, 0},
	{sampling.Params{Temperature: 1, TopP: 0.9}, 6, 0},
	{sampling.Params{Temperature: 1, TopP: 0.6, Tell: everything}, 2, 9},
	{sampling.Params{Temperature: 0.3, TopP: 0.999, Tell: sampling.Tell{Logprobs: true}}, 1, 0},
	{sampling.Params{Temperature: 1, MinP: 0.1}, 8, 0},
	{sampling.Params{Temperature: 1.3, TopK: 50, TopP: 0.8, MinP: 0.02}, 8, 0},
	{sampling.Params{Temperature: 1, TopK: 1, Tell: everything}, 8, 0},
	{sampling.Params{Temperature: 1, TypicalP: 0.7, Tell: everything}, 3, 0},
	{sampling.Params{Temperature: 0.8, TypicalP: 0.4}, 3, 12},
	{sampling.Params{Temperature: 1.2, TopK: 60, TopP: 0.9, TypicalP: 0.95}, 3, 0},
	{sampling.Params{RepetitionPenalty: 1.3, Tell: everything}, 3, 0},
	{sampling.Params{Temperature: 1, RepetitionPenalty: 1.7, PresencePenalty: 0.5, FrequencyPenalty: 0.25, TopK: 30, Tell: everything}, 3, 0},
	{sampling.Params{FrequencyPenalty: -1.5, NoRepeatNgram: 2}, 3, 0},
	{sampling.Params{NoRepeatNgram: 1, Temperature: 1, TopP: 0.9}, 1, 0},
	{sampling.Params{Bias: []sampling.Bias{{ID: 3, Value: 40}, {ID: 9, Value: 41}}, BadWords: [][]int32{{9}, {2, 3}}, MinNew: 500, Ends: []int32{-1, 7, 3}, Tell: everything}, 3, 0},
}

// Rows are drawn as a Sampler draws them, and told of to the bit.
func TestDraw(t *testing.T) {
	onBoth(t, func(r *rig) {
		const n, times = 1000, 3
		d := r.newDraws(n, 300)
		for i, c := range drawCases {
			for j := range times {
				row := r.row(n, c.spread, c.kinds, 0.1)
				if j == times-1 && i%3 == 0 {
					row[r.random.IntN(n)] = float32(math.NaN())
				}
				d.add(row, c.Params, r.someIDs(20+70*j, n), 7+j)
			}
		}
		d.check(5)
	})
}

// Rows of any kind are drawn so by any parameters, from few and from hardly any tokens.
func TestDrawAnything(t *testing.T) {
	times := 60
	if os.Getenv("CBACTOR_FULL") != "" {
		times = 300
	}
	onBoth(t, func(r *rig) {
		for _, n := range []int{1, 7, 64, 333} {
			d := r.newDraws(n, 40)
			for range times {
				row := r.row(n, 4*r.random.Float64(), r.random.IntN(2)*(1+r.random.IntN(9)), []float64{0, 0.1, 0.9}[r.random.IntN(3)])
				ids := r.someIDs(1+r.random.IntN(39), n)
				d.add(row, r.anyParams(n), ids, 1+r.random.IntN(len(ids)))
			}
			d.check(3)
		}
	})
}

// anyParams are parameters that Draw and CheckVocab take.
func (r *rig) anyParams(n int) sampling.Params {
	for {
		some := func(low, high float64) float32 { // or none
			return float32(r.random.IntN(2)) * float32(low+(high-low)*r.random.Float64())
		}
		p := sampling.Params{
			RepetitionPenalty: some(0.5, 2), PresencePenalty: some(-2, 2), FrequencyPenalty: some(-2, 2),
			NoRepeatNgram: int32(max(0, r.random.IntN(8)-4)), MinNew: int32(r.random.IntN(20)),
			Temperature: some(0.1, 2), TopK: int32(max(0, r.random.IntN(40)-20)), TopP: some(0.1, 1), MinP: some(0, 0.5), TypicalP: some(0.1, 1),
		}
		if r.random.IntN(2) == 0 {
			p.Tell = sampling.Tell{Logprobs: true, Top: int32(r.random.IntN(MaxTold + 1))}
		}
		for id := range min(n, r.random.IntN(4)) {
			p.Bias = append(p.Bias, sampling.Bias{ID: int32(n - 1 - id), Value: some(-100, 100)})
		}
		for range r.random.IntN(3) {
			p.BadWords = append(p.BadWords, r.someIDs(1+r.random.IntN(2), n))
		}
		for _, id := range r.someIDs(r.random.IntN(3), n) {
			p.Ends = append(p.Ends, id-int32(r.random.IntN(2)))
		}
		for i := range p.BadWords {
			for j := range p.BadWords[i] {
				p.BadWords[i][j] %= int32(n)
			}
		}
		if p.CheckVocab(n) == nil {
			return p
		}
	}
}

// Best draws what nothing changes and nothing is told of.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		params sampling.Params
		plain  bool
	}{
		{sampling.Params{}, true},
		{sampling.Params{Temperature: 1, TopK: 1, RepetitionPenalty: 1}, true},
		{sampling.Params{Temperature: 1}, false},
		{sampling.Params{Tell: sampling.Tell{Logprobs: true}}, false},
		{sampling.Params{RepetitionPenalty: 1.1}, false},
		{sampling.Params{Bias: []sampling.Bias{{ID: 1, Value: 1}}}, false},
		{sampling.Params{BadWords: [][]int32{{1}}}, false},
		{sampling.Params{MinNew: 3, Ends: []int32{2}}, false},
	} {
		if got := Plain(&c.params); got != c.plain {
			t.Errorf("%+v is plain: %t, want %t", c.params, got, c.plain)
		}
	}
}

func TestDraws(t *testing.T) {
	words := make([][]int32, 600)
	for i := range words {
		words[i] = []int32{int32(i)}
	}
	for _, c := range []struct {
		params sampling.Params
		known  bool
	}{
		{sampling.Params{}, true},
		{sampling.Params{Temperature: 1, TopK: 3, TopP: 0.5, MinP: 0.1, TypicalP: 0.5, RepetitionPenalty: 1.2, PresencePenalty: 1, NoRepeatNgram: 3}, true},
		{sampling.Params{MinNew: 1, Ends: []int32{2}, BadWords: [][]int32{{1, 2}}, Bias: []sampling.Bias{{ID: 1, Value: 2}}}, true},
		{sampling.Params{Tell: sampling.Tell{Logprobs: true, Top: MaxTold, Prompt: true}}, true},
		{sampling.Params{Tell: sampling.Tell{Prompt: true, Top: MaxTold + 1}}, true},
		{sampling.Params{Tell: sampling.Tell{Logprobs: true, Top: MaxTold + 1}}, false},
		{sampling.Params{Tell: sampling.Tell{Kept: true}}, false},
		{sampling.Params{Allowed: []int32{1}}, false},
		{sampling.Params{BadWords: words[:EditInts/2]}, true},
		{sampling.Params{BadWords: words[:EditInts/2+1]}, false},
	} {
		if got := Draws(&c.params); got != c.known {
			t.Errorf("%+v is known: %t, want %t", c.params, got, c.known)
		}
	}
}
