package sampling

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plain is the filters as they are defined, by sorting: the ids kept, ascending,
// and their probabilities.
func plain(logits []float32, p Params) ([]int32, []float64) {
	var ids []int32
	for i, v := range logits {
		if v > -inf {
			ids = append(ids, int32(i))
		}
	}
	byLogit := func(a, b int32) int { return cmp.Or(cmp.Compare(logits[b], logits[a]), cmp.Compare(a, b)) }
	slices.SortFunc(ids, byLogit)
	if p.TopK > 0 && int(p.TopK) < len(ids) {
		border := logits[ids[p.TopK-1]]
		ids = slices.DeleteFunc(ids, func(id int32) bool { return logits[id] < border })
	}
	if p.TopP > 0 && p.TopP < 1 {
		ids = ids[:reaching(plainProbs(logits, ids, p.Temperature), float64(p.TopP))]
	}
	if probs := plainProbs(logits, ids, p.Temperature); p.MinP > 0 {
		n := 1
		for n < len(ids) && probs[n] >= float64(p.MinP)*probs[0] {
			n++
		}
		ids = ids[:n]
	}
	if p.TypicalP > 0 && p.TypicalP < 1 {
		ids = plainTypical(logits, ids, p)
	}
	slices.Sort(ids)
	return ids, plainProbs(logits, ids, p.Temperature)
}

func plainProbs(logits []float32, ids []int32, temperature float32) []float64 {
	best := float64(logits[ids[0]])
	for _, id := range ids {
		best = max(best, float64(logits[id]))
	}
	probs, total := make([]float64, len(ids)), 0.0
	for i, id := range ids {
		probs[i] = math.Exp((float64(logits[id]) - best) / float64(temperature))
		total += probs[i]
	}
	for i := range probs {
		probs[i] /= total
	}
	return probs
}

// reaching is how many of probs sum to p.
func reaching(probs []float64, p float64) (n int) {
	for sum := 0.0; n < len(probs) && sum < p; n++ {
		sum += probs[n]
	}
	return n
}

func plainTypical(logits []float32, ids []int32, p Params) []int32 {
	probs := plainProbs(logits, ids, p.Temperature)
	entropy := 0.0
	for _, q := range probs {
		entropy -= q * math.Log(q)
	}
	away := make(map[int32]float64)
	byID := make(map[int32]float64)
	for i, id := range ids {
		// A billionth is the same, for sums in another order.
		away[id], byID[id] = math.Round(math.Abs(-math.Log(probs[i])-entropy)*1e9), probs[i]
	}
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(away[a], away[b]) })
	for i, id := range ids {
		probs[i] = byID[id]
	}
	last := away[ids[reaching(probs, float64(p.TypicalP))-1]]
	return slices.DeleteFunc(ids, func(id int32) bool { return away[id] > last })
}

// Logits are quarters from -4 to 4, so that ties are common, or -Inf.
func TestKeepEqualsPlainDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		logits := make([]float32, n)
		for i := range logits {
			if logits[i] = float32(rapid.IntRange(-17, 16).Draw(t, "logit")) / 4; logits[i] < -4 && i > 0 {
				logits[i] = -inf
			}
		}
		share := func(name string, most int) float32 { // off the border of any sum, where rounding may decide
			return max(0, (float32(rapid.IntRange(-40, most).Draw(t, name))+0.377)/100)
		}
		p := Params{
			Temperature: rapid.Float32Range(0.2, 2).Draw(t, "temperature"),
			TopK:        rapid.Int32Range(0, 70).Draw(t, "k"),
			TopP:        share("p", 98),
			MinP:        share("min-p", 60),
			TypicalP:    share("typical", 98),
		}
		if p.TopK == 1 {
			p.TopK = 2
		}
		p.Tell = Tell{Kept: true, Logprobs: true}
		want, probs := plain(logits, p)
		var out Drawn
		if err := NewSampler(n).Sample(logits, &p, History{}, Key{Seed: 5}, &out); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.Kept, want) {
			t.Fatalf("%+v of %v keeps %v, want %v", p, logits, out.Kept, want)
		}
		i, _ := slices.BinarySearch(want, out.ID)
		if d := math.Abs(float64(out.Sampled) - math.Log(probs[i])); d > 1e-6 {
			t.Fatalf("%+v of %v: token %d has %v, want %v", p, logits, out.ID, out.Sampled, math.Log(probs[i]))
		}
	})
}

func kept(t *testing.T, logits []float32, p Params) []int32 {
	t.Helper()
	p.Tell.Kept = true
	var out Drawn
	if err := NewSampler(len(logits)).Sample(logits, &p, History{}, Key{}, &out); err != nil {
		t.Fatal(err)
	}
	return out.Kept
}

// Where the cumulative probability is 1-p to the bit, the token is dropped; of
// equals the lower ids stay.
func TestTopPBorder(t *testing.T) {
	half := float32(math.Log(0.5))
	for _, c := range []struct {
		logits []float32
		p      float32
		want   []int32
	}{
		{[]float32{0, half, half}, 0.25, []int32{0}},
		{[]float32{0, half, half}, 0.5, []int32{0}},
		{[]float32{0, half, half}, 0.51, []int32{0, 1}},
		{[]float32{0, half, half}, 0.75, []int32{0, 1}},
		{[]float32{0, half, half}, 0.76, []int32{0, 1, 2}},
		{[]float32{0, half, half}, 1, []int32{0, 1, 2}},
		{[]float32{3, 3, 3, 3}, 0.5, []int32{0, 1}},
		{[]float32{3, 3, 3, 3}, 0.51, []int32{0, 1, 2}},
	} {
		if got := kept(t, c.logits, Params{Temperature: 1, TopP: c.p}); !slices.Equal(got, c.want) {
			t.Errorf("top-p %v of %v keeps %v, want %v", c.p, c.logits, got, c.want)
		}
	}
}

// The cumulative probability must exceed u: what has none is never drawn.
func TestDrawBorder(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		u       float64
		want    int32
	}{
		{[]float64{1, 1}, 0, 0}, {[]float64{1, 1}, 0.49, 0}, {[]float64{1, 1}, 0.5, 1},
		{[]float64{0, 1}, 0, 1}, {[]float64{1, 0, 1, 0}, 0.5, 2}, {[]float64{0.1, 0.2, 0.3, 0}, 1 - 0x1p-53, 2},
	} {
		var k candidates
		for i, w := range c.weights {
			k.add(int32(i), w)
		}
		if got := k.draw(c.u * k.total()); got != c.want {
			t.Errorf("%v at %v: %d, want %d", c.weights, c.u, got, c.want)
		}
	}
}

// The most likely token is not always among the most typical.
func TestTypicalDropsTheMostLikely(t *testing.T) {
	logits := make([]float32, 101)
	for i := range logits {
		logits[i] = float32(math.Log(0.6 / 100))
	}
	logits[7] = float32(math.Log(0.4))
	if got := kept(t, logits, Params{Temperature: 1, TypicalP: 0.5}); len(got) != 100 || slices.Contains(got, 7) {
		t.Errorf("keeps %v", got)
	}
}

// Negligible tokens are kept, and their log-probabilities are finite.
func TestColdTemperatureKeepsEverything(t *testing.T) {
	logits := []float32{0, -30, 5, -inf, 4}
	p := Params{Temperature: 0.01, Tell: Tell{Logprobs: true, Top: 5, Kept: true}}
	var out Drawn
	if err := NewSampler(5).Sample(logits, &p, History{}, Key{}, &out); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out.Kept, []int32{0, 1, 2, 4}) || out.Top[3].ID != 1 || out.Top[3].Sampled != -3500 {
		t.Errorf("%+v", out)
	}
}
