package main

import (
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

// Tokens that older weights sampled tell the gradient of the reward under the newest
// ones: summed over all tokens, each as often as the old weights draw it, what is
// learned is the difference that moving a weight makes to the expected reward.
func TestLearnsOfOlderWeights(t *testing.T) {
	const vocab, hidden, little = 40, 9, 1e-2
	p, numbers := randomPolicy(vocab, hidden)
	x, rewards := numbers(hidden), numbers(vocab)
	size := float32(math.Sqrt(meanSquare(x)))
	for i := range x {
		x[i] *= 0.3 / size // no ratio is cut off
	}
	probs := func(norm []float32) []float32 {
		z := make([]float32, vocab)
		for v := range z {
			for i, e := range p.row(v) {
				z[v] += e * norm[i] * x[i]
			}
		}
		return z
	}
	old := probs(p.norms[0])
	newest := slices.Clone(p.norms[0])
	for i := range newest {
		newest[i] += 0.1 * numbers(1)[0]
	}
	p.norms = append(p.norms, newest)

	drawn := slices.Clone(old)
	softmax(drawn)
	tr, got := newTrainer(options{}, nil, p), make([]float64, hidden)
	for v := range vocab {
		s := &story{logits: [][]float32{slices.Clone(old)}, surplus: float64(rewards[v] * drawn[v])}
		s.Logprobs = []sampling.Drawn{{Logprob: sampling.Logprob{ID: int32(v), Sampled: float32(math.Log(float64(drawn[v])))}}}
		tr.learn(got, s, 0, 0)
	}
	expected := func(i int, d float32) (sum float64) {
		moved := slices.Clone(newest)
		moved[i] += d
		now := probs(moved)
		softmax(now)
		for v, share := range now {
			sum += float64(share * rewards[v])
		}
		return sum
	}
	for i := range hidden {
		if want := (expected(i, little) - expected(i, -little)) / (2 * little); math.Abs(got[i]-want) > 1e-3*(1+math.Abs(want)) {
			t.Errorf("weight %d: learned %g, want %g", i, got[i], want)
		}
	}
}

// A step has its length, goes up the gradient, and lets no weight come near zero.
func TestMove(t *testing.T) {
	p := policyOf([]float32{5, -5, 0.2, -0.2}, []float32{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})
	to := newTrainer(options{rate: 1}, nil, p).move([]float64{3, 3, -3, 3})
	for i, want := range []float32{6, -4, least, -least} {
		if math.Abs(float64(to[i]-want)) > 1e-5 {
			t.Errorf("weight %d goes to %g, want %g", i, to[i], want)
		}
	}
}
