package sampling

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyFloat is mostly of what is allowed, sometimes anything at all.
func anyFloat(lo, hi float32) *rapid.Generator[float32] {
	return rapid.Custom(func(t *rapid.T) float32 {
		switch rapid.IntRange(0, 30).Draw(t, "kind") {
		case 0:
			return math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		case 1, 2, 3, 4, 5, 6, 7, 8:
			return rapid.Float32Range(lo, hi).Draw(t, "value")
		}
		return 0
	})
}

func anyParams(t *rapid.T, vocab int) Params {
	id := rapid.Int32Range(-1, int32(vocab))
	ids := rapid.SliceOfN(id, 0, 4)
	p := Params{
		RepetitionPenalty: anyFloat(0.1, 10).Draw(t, "repetition"),
		PresencePenalty:   anyFloat(-2, 2).Draw(t, "presence"),
		FrequencyPenalty:  anyFloat(-2, 2).Draw(t, "frequency"),
		NoRepeatNgram:     rapid.Int32Range(-1, 4).Draw(t, "n-gram"),
		MinNew:            rapid.Int32Range(-1, 5).Draw(t, "min new"),
		Ends:              ids.Draw(t, "ends"),
		Temperature:       anyFloat(0, 2).Draw(t, "temperature"),
		TopK:              rapid.Int32Range(-1, 30).Draw(t, "k"),
		TopP:              anyFloat(0, 1).Draw(t, "p"),
		MinP:              anyFloat(0, 1).Draw(t, "min-p"),
		TypicalP:          anyFloat(0, 1).Draw(t, "typical"),
		Tell:              Tell{Logprobs: true, Top: rapid.Int32Range(-1, 51).Draw(t, "top"), Kept: true},
	}
	for range rapid.IntRange(0, 2).Draw(t, "biases") {
		p.Bias = append(p.Bias, Bias{id.Draw(t, "id"), anyFloat(-100, 100).Draw(t, "bias")})
	}
	for range rapid.IntRange(0, 2).Draw(t, "words") {
		p.BadWords = append(p.BadWords, ids.Draw(t, "word"))
	}
	if rapid.Bool().Draw(t, "restricted") {
		p.Allowed = ids.Draw(t, "allowed")
	}
	return p
}

// Whatever Check lets through draws a token that is kept, with finite numbers, or
// fails by its class: nothing panics and nothing is NaN.
func TestAnyParams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vocab := rapid.IntRange(1, 20).Draw(t, "vocab")
		p := anyParams(t, vocab)
		if err := p.CheckVocab(vocab); err != nil {
			if !errors.Is(err, ErrParams) {
				t.Fatal(err)
			}
			return
		}
		logits := make([]float32, vocab)
		for i := range logits {
			if logits[i] = anyFloat(-20, 20).Draw(t, "logit"); rapid.IntRange(0, 9).Draw(t, "masked") == 0 {
				logits[i] = -inf
			}
		}
		ids := rapid.SliceOfN(rapid.Int32Range(0, int32(vocab-1)), 1, 12).Draw(t, "ids")
		h := History{ids, rapid.Int32Range(1, int32(len(ids))).Draw(t, "prompt")}
		var d Drawn
		if err := NewSampler(vocab).Sample(logits, &p, h, Key{Seed: rapid.Uint64().Draw(t, "seed")}, &d); err != nil {
			if !errors.Is(err, ErrLogits) {
				t.Fatal(err)
			}
			return
		}
		if !slices.IsSorted(d.Kept) || !slices.Contains(d.Kept, d.ID) || !(d.Sampled > -inf && d.Sampled <= 0) || !(d.Raw <= 0) {
			t.Fatalf("%+v of %v draws %+v", p, logits, d)
		}
		for _, l := range d.Top {
			if !(l.Raw > -inf && l.Raw <= 0) || !(l.Sampled <= 0) || (l.Sampled > -inf) != slices.Contains(d.Kept, l.ID) {
				t.Fatalf("%+v of %v draws %+v", p, logits, d)
			}
		}
	})
}
