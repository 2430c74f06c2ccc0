package sampling

import "math"

// negligible is the logarithm of a probability, relative to the most likely
// token's, that cannot change a sum of float64: 2^20 times e^-60 is below 2^-65.
const negligible = -60

// keep fills s.kept with the tokens that p keeps; best is the largest logit.
// Subtracting it first keeps every temperature above 0 from overflowing.
//
// top-k drops what is below the k-th largest logit, so ties at it stay. top-p is
// Transformers' rule: in ascending order, drop while the cumulative probability
// is at most 1-p. Seen from above, a token stays while the probability of those
// before it is below p, so there is always one. Among equals at the border the
// lower ids stay.
func (s *Sampler) keep(logits []float32, p Params, best float32) {
	lowest := uint32(0)
	if p.TopK > 0 && int(p.TopK) < len(logits) {
		s.kept.reset()
		for _, v := range logits {
			s.kept.ranks = append(s.kept.ranks, rank(v))
		}
		lowest, _ = s.border(float64(p.TopK), nil)
	}
	s.kept.reset()
	for i, v := range logits {
		r := rank(v)
		if r < lowest {
			continue
		}
		if d := (float64(v) - float64(best)) / float64(p.Temperature); d >= negligible {
			s.kept.add(int32(i), r, math.Exp(d))
		}
	}
	if p.TopP > 0 && p.TopP < 1 {
		s.topP(float64(p.TopP))
	}
}

// topP drops candidates in place.
func (s *Sampler) topP(p float64) {
	need := p * s.kept.total()
	lowest, above := s.border(need, s.kept.weights)
	all := s.kept
	s.kept.reset()
	for i, r := range all.ranks {
		if r < lowest || r == lowest && above >= need {
			continue
		}
		if r == lowest {
			above += all.weights[i]
		}
		s.kept.add(all.ids[i], r, all.weights[i])
	}
}

const buckets = 1 << 8

// border finds the rank at which the sum of the weights, from the largest rank
// down, reaches need, and the sum of all above it. Nil weights are 1 each. It is
// a radix selection: four passes over 8 bits of the ranks each, no sort.
func (s *Sampler) border(need float64, weights []float64) (lowest uint32, above float64) {
	known := uint32(0) // bits of lowest that are found
	for _, shift := range [...]uint32{24, 16, 8, 0} {
		clear(s.sums[:])
		for i, r := range s.kept.ranks {
			if (r^lowest)&known != 0 {
				continue
			}
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			s.sums[r>>(shift&31)%buckets] += w
		}
		b := s.bucket(need - above)
		for _, sum := range s.sums[b+1:] {
			above += sum
		}
		lowest |= uint32(b) << shift
		known = ^uint32(0) << shift
	}
	return lowest, above
}

// bucket is the highest one from which on the sums reach need. Sums of the same
// weights in another order differ in the last bit: if need is missed by that, it
// is the lowest bucket that has any.
func (s *Sampler) bucket(need float64) int {
	sum, lowest := 0.0, 0
	for b := buckets - 1; b >= 0; b-- {
		if s.sums[b] == 0 {
			continue
		}
		lowest = b
		if sum += s.sums[b]; sum >= need {
			break
		}
	}
	return lowest
}

// rank orders logits as integers. Adding 0 makes -0 equal to 0.
func rank(v float32) uint32 {
	b := math.Float32bits(v + 0)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}
