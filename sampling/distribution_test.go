package sampling

import (
	"math"
	"os"
	"testing"
)

// draws is the size of the tests of distributions: 200,000 in full, as
// CBACTOR_FULL says.
func draws() int {
	if os.Getenv("CBACTOR_FULL") != "" {
		return 200_000
	}
	return 10_000
}

// Draws follow the probabilities, which are computed here the plain way, for each
// filter and in combinations.
func TestDistribution(t *testing.T) {
	few := []float32{1, -2, 0.5, 3, 2.5, -inf, 0, 2.5, -0.25, 1.5}
	many := goldenLogits{vocab: 300, seed: 8, scale: 1 << 19, masked: 7}.row()
	for _, c := range []struct {
		name string
		p    Params
	}{
		{"temperature", Params{Temperature: 1}},
		{"cold", Params{Temperature: 0.3}},
		{"hot", Params{Temperature: 2}},
		{"top-k", Params{Temperature: 0.8, TopK: 4}},
		{"top-k with a tie at the border", Params{Temperature: 0.8, TopK: 2}},
		{"top-p", Params{Temperature: 1.2, TopP: 0.8}},
		{"min-p", Params{Temperature: 1, MinP: 0.1}},
		{"typical-p", Params{Temperature: 1.1, TypicalP: 0.7}},
		{"top-k, top-p", Params{Temperature: 1.5, TopK: 5, TopP: 0.9}},
		{"top-k, min-p", Params{Temperature: 1, TopK: 6, MinP: 0.15}},
		{"top-k, typical-p", Params{Temperature: 1, TopK: 5, TypicalP: 0.9}},
		{"top-p, min-p", Params{Temperature: 2, TopP: 0.95, MinP: 0.2}},
		{"top-p, typical-p", Params{Temperature: 2, TopP: 0.9, TypicalP: 0.8}},
		{"min-p, typical-p", Params{Temperature: 1.4, MinP: 0.05, TypicalP: 0.9}},
		{"all", Params{Temperature: 1.7, TopK: 8, TopP: 0.97, MinP: 0.05, TypicalP: 0.9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkDistribution(t, few, c.p)
			c.p.TopK *= 10
			checkDistribution(t, many, c.p)
		})
	}
}

// The same behind processors: the distribution is that of the processed logits.
func TestDistributionBehindProcessors(t *testing.T) {
	logits := []float32{1, -2, 0.5, 3, 2.5, -inf, 0, 2.5, -0.25, 1.5}
	p := Params{
		Bias: []Bias{{1, 4}}, RepetitionPenalty: 1.5, PresencePenalty: 0.5, FrequencyPenalty: 0.25,
		BadWords: [][]int32{{4}}, Temperature: 1, TopP: 0.95,
	}
	h := History{IDs: []int32{3, 7, 1, 3, 8}, Prompt: 2}
	repeated, generated := map[int]bool{3: true, 7: true, 1: true, 8: true}, map[int]bool{1: true, 3: true, 8: true}
	want := make([]float32, len(logits))
	for i, v := range logits {
		if i == 1 {
			v += 4
		}
		switch {
		case repeated[i] && v < 0:
			v *= 1.5
		case repeated[i]:
			v /= 1.5
		}
		if generated[i] {
			v -= 0.75
		}
		want[i] = v
	}
	want[4] = -inf
	checkDraws(t, logits, want, p, h)
}

func checkDistribution(t *testing.T, logits []float32, p Params) {
	t.Helper()
	checkDraws(t, logits, logits, p, History{})
}

// checkDraws compares draws from logits with the distribution that the filters of p
// leave of processed ones.
func checkDraws(t *testing.T, logits, processed []float32, p Params, h History) {
	t.Helper()
	ids, probs := plain(processed, p)
	at := make(map[int32]int)
	for i, id := range ids {
		at[id] = i
	}
	n := draws()
	counts := make([]int, len(ids))
	s := NewSampler(len(logits))
	for i := range n {
		var d Drawn
		if err := s.Sample(logits, &p, h, Key{Seed: 11, Child: int32(i % 7), Position: int32(i)}, &d); err != nil {
			t.Fatal(err)
		}
		j, ok := at[d.ID]
		if !ok {
			t.Fatalf("%+v: token %d is drawn, must never be", p, d.ID)
		}
		counts[j]++
	}
	for i := range probs {
		probs[i] *= float64(n)
	}
	if df, x := grouped(counts, probs); df > 0 && chiTail(x, df) < 1e-3 {
		t.Errorf("%+v: chi-square %.2f of %d degrees of freedom, p = %.2g", p, x, df, chiTail(x, df))
	}
}

// grouped is chi-square and its degrees of freedom, with what is expected fewer
// than 10 times in one group.
func grouped(counts []int, expected []float64) (df int, x float64) {
	var c []int
	var e []float64
	rare, rareExpected := 0, 0.0
	for i, n := range counts {
		if expected[i] < 10 {
			rare, rareExpected = rare+n, rareExpected+expected[i]
			continue
		}
		c, e = append(c, n), append(e, expected[i])
	}
	if rareExpected >= 10 {
		c, e = append(c, rare), append(e, rareExpected)
	}
	return len(c) - 1, chiSquare(c, e)
}

// chiTail is the probability that chi-square of df degrees of freedom exceeds x:
// the incomplete gamma function, by its series (Abramowitz and Stegun, 6.5.29).
func chiTail(x float64, df int) float64 {
	a, h := float64(df)/2, x/2
	term := 1 / a
	sum := term
	for n := 1; term > sum*1e-12; n++ {
		term *= h / (a + float64(n))
		sum += term
	}
	gamma, _ := math.Lgamma(a)
	return 1 - sum*math.Exp(a*math.Log(h)-h-gamma)
}

// The 99.9th percentiles of printed tables.
func TestChiTail(t *testing.T) {
	for df, x := range map[int]float64{1: 10.828, 8: 26.124, 99: 148.230} {
		if p := chiTail(x, df); math.Abs(p-1e-3) > 1e-6 {
			t.Errorf("%v of %d degrees of freedom has p = %v", x, df, p)
		}
	}
}
