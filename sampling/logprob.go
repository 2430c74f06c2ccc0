package sampling

import (
	"math"
	"slices"
)

// negligible is the logarithm of a probability, relative to the most likely
// token's, that cannot change a sum of float64: 2^20 times e^-60 is below 2^-65.
const negligible = -60

// distribution is logits at a temperature. Subtracting the largest first keeps
// every temperature above 0 from overflowing.
type distribution struct {
	logits            []float32
	best, temperature float64
}

// at is the logarithm of a token's probability, relative to the best's.
func (d *distribution) at(id int32) float64 {
	return (float64(d.logits[id]) - d.best) / d.temperature
}

// weight is a probability from its logarithm.
func weight(log float64) float64 {
	if log < negligible {
		return 0
	}
	return math.Exp(log)
}

// logSum is the logarithm of the sum of the exponentials of a row of logits.
type logSum struct{ best, rest float64 }

func sumOf(logits []float32, most int32) logSum {
	best, sum := float64(logits[most]), 0.0
	for _, v := range logits {
		sum += weight(float64(v) - best)
	}
	return logSum{best, math.Log(sum)}
}

func (l logSum) logprob(logit float32) float32 { return logprob(float64(logit) - l.best - l.rest) }

// logprob is a float32 that is -Inf only where the probability is 0, and never
// above 0 by rounding.
func logprob(log float64) float32 {
	if math.IsInf(log, -1) {
		return float32(log)
	}
	return float32(min(0, max(log, -math.MaxFloat32)))
}

// mostLikely appends the n tokens with the largest logits to top: fewer where fewer
// are above -Inf, the lowest ids of equals. raw is the sum of logits.
func (s *Sampler) mostLikely(top []Logprob, logits []float32, n int, raw logSum) []Logprob {
	if n == 0 {
		return top
	}
	lowest := s.kth(logits, n)
	for i, v := range logits { // ascending, so that an equal one goes behind
		if v < lowest || len(top) == n && v <= top[n-1].Raw {
			continue
		}
		if len(top) < n {
			top = append(top, Logprob{})
		}
		at := len(top) - 1
		for ; at > 0 && top[at-1].Raw < v; at-- {
			top[at] = top[at-1]
		}
		top[at] = Logprob{ID: int32(i), Raw: v}
	}
	for i := range top {
		top[i].Raw = raw.logprob(top[i].Raw)
	}
	return top
}

// asSampled sets Sampled for the token drawn and for the most likely ones.
func (s *Sampler) asSampled(d *distribution, out *Drawn) {
	total := math.Log(s.kept.total())
	out.Sampled = logprob(d.at(out.ID) - total)
	for i := range out.Top {
		t := &out.Top[i]
		t.Sampled = float32(math.Inf(-1))
		if _, kept := slices.BinarySearch(s.kept.ids, t.ID); kept {
			t.Sampled = logprob(d.at(t.ID) - total)
		}
	}
}
