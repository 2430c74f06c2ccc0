package sampling

import (
	"math"
	"slices"
)

// distribution is logits at a temperature. Subtracting the largest first keeps
// every temperature above 0 from overflowing.
type distribution struct {
	logits            []float32
	best, temperature float64
	total             float64 // weight of what may be drawn; 0: not known
}

// at is the logarithm of a token's weight, its probability relative to the best's.
func (d *distribution) at(id int32) float64 { return logWeight(d.logits[id], d.best, d.temperature) }

func logWeight(logit float32, best, temperature float64) float64 {
	return (float64(logit) - best) / temperature
}

// logTotal is the logarithm of the weight of all that may be drawn.
func (d *distribution) logTotal() float64 { return math.Log(d.total) }

// logprob is the log-probability of a token that may be drawn.
func (d *distribution) logprob(id int32, logTotal float64) float32 {
	return logprob(d.at(id) - logTotal)
}

// logprob is a float32 that is -Inf only where the probability is 0, and never
// above 0 by rounding.
func logprob(log float64) float32 {
	if math.IsInf(log, -1) {
		return float32(log)
	}
	return float32(min(0, max(log, -math.MaxFloat32)))
}

// Softmax is a distribution of logits whose numbers were found elsewhere, on a device.
type Softmax struct {
	Best, Temperature float32 // the largest logit is Best; Temperature is above 0
	LogTotal          float64 // the logarithm of the weight of all that may be drawn, the best's being 1
}

// Logprob is the log-probability of a token with such a logit, -Inf if that is.
func (s *Softmax) Logprob(logit float32) float32 {
	return logprob(logWeight(logit, float64(s.Best), float64(s.Temperature)) - s.LogTotal)
}

// tellTop fills out.Top with the n most likely tokens of raw, which it completes.
func (s *Sampler) tellTop(raw *distribution, n int, out *Drawn) {
	out.Top = s.mostLikely(out.Top[:0], raw.logits, n)
	raw.total = s.sumAll(raw)
	logTotal := raw.logTotal()
	for i := range out.Top {
		out.Top[i].Raw = raw.logprob(out.Top[i].ID, logTotal)
	}
}

// mostLikely appends the n tokens with the largest logits to top, as Raw: fewer where
// fewer are above -Inf, the lowest ids of equals.
func (s *Sampler) mostLikely(top []Logprob, logits []float32, n int) []Logprob {
	if n == 0 {
		return top
	}
	bound := below(s.kth(logits, n))
	for i := 0; i < len(logits); i++ {
		if i += s.passes.Above(logits[i:], bound); i == len(logits) {
			break
		}
		v := logits[i]
		if len(top) < n {
			top = append(top, Logprob{})
		}
		at := len(top) - 1
		for ; at > 0 && top[at-1].Raw < v; at-- {
			top[at] = top[at-1]
		}
		top[at] = Logprob{ID: int32(i), Raw: v}
		if len(top) == n { // ids ascend, so that an equal one would go behind
			bound = top[n-1].Raw
		}
	}
	return top
}

// asSampled sets Sampled for the token drawn and for the most likely ones.
func (s *Sampler) asSampled(d *distribution, p *Params, out *Drawn) {
	all, logTotal := !p.Greedy() && !p.filters(), d.logTotal()
	out.Sampled = d.logprob(out.ID, logTotal)
	for i := range out.Top {
		t := &out.Top[i]
		t.Sampled = banned
		if _, kept := slices.BinarySearch(s.kept.ids, t.ID); kept || all {
			t.Sampled = d.logprob(t.ID, logTotal)
		}
	}
}
