package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomPolicy has numbers of a size like the model's.
func randomPolicy(vocab, hidden int) (*policy, func(n int) []float32) {
	r := rand.New(rand.NewPCG(3, 4))
	numbers := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	return policyOf(numbers(hidden), numbers(vocab*hidden)), numbers
}

// The gradient is what the log-probability does when one weight is moved a little.
func TestGradientIsTheDifference(t *testing.T) {
	p, numbers := randomPolicy(40, 9)
	x, probs := numbers(9), make([]float32, 40)
	const token, little = 17, 1e-2
	g, _ := p.gradient(x, token, probs)
	for i := range g {
		var logprob [2]float64
		for side, d := range []float32{little, -little} {
			moved := slices.Clone(p.norms[0])
			moved[i] += d
			_, logprob[side] = (&policy{p.hidden, p.embed, p.inverse, [][]float32{moved}}).gradient(x, token, probs)
		}
		if want := (logprob[0] - logprob[1]) / (2 * little); math.Abs(want-float64(g[i])) > 2e-3 {
			t.Errorf("weight %d: gradient %g, difference %g", i, g[i], want)
		}
	}
}

// A state is found from its logits under the weight that they came of, and not under
// another one.
func TestStateIsFoundFromLogits(t *testing.T) {
	p, numbers := randomPolicy(300, 64)
	x := numbers(64)
	size := float32(math.Sqrt(meanSquare(x)))
	logits := make([]float32, 300)
	for i := range x {
		x[i] /= size
	}
	for v := range logits {
		for i, e := range p.row(v) {
			logits[v] += e * p.norms[0][i] * x[i]
		}
	}
	got := p.state(logits, p.norms[0])
	for i := range x {
		if math.Abs(float64(got[i]-x[i])) > 1e-4 {
			t.Fatalf("element %d is %g, want %g", i, got[i], x[i])
		}
	}
	other := slices.Clone(p.norms[0])
	for i := range other {
		other[i] *= 1.02
	}
	if d := math.Abs(meanSquare(p.state(logits, other)) - 1); d < 1e-2 {
		t.Errorf("under another weight the mean square differs from 1 by %g only", d)
	}
}
