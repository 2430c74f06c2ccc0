package sampling

import "math"

// sumAll is the weight of all tokens: of the sums of blocks, which stay in the weights of
// s.kept for drawAny.
func (s *Sampler) sumAll(d *distribution) (total float64) {
	s.kept.reset()
	for at := 0; at < len(d.logits); at += Block {
		sum := s.weigh(d, d.logits[at:min(at+Block, len(d.logits))], s.few[:])
		s.kept.weights = append(s.kept.weights, sum)
		total += sum
	}
	return total
}

// drawAny is candidates.draw among all tokens, right behind sumAll.
func (s *Sampler) drawAny(d *distribution, need float64) int32 {
	sums := s.kept.weights
	b, before := 0, 0.0
	for before+sums[b] <= need && b < len(sums)-1 {
		before += sums[b]
		b++
	}
	first := b * Block
	logits := d.logits[first:min(first+Block, len(d.logits))]
	s.weigh(d, logits, s.few[:])
	i, sum := 0, s.few[0]
	for last := lastAbove0(s.few[:len(logits)]); before+sum <= need && i < last; { // sums in another order may end below need
		i++
		sum += s.few[i]
	}
	return int32(first + i)
}

// lastAbove0 is the last of weights that is one, 0 if none is.
func lastAbove0(weights []float64) int {
	i := len(weights) - 1
	for i > 0 && weights[i] == 0 {
		i--
	}
	return i
}

// under is a logit so that all tokens of a weight, or more, are above it.
func (d *distribution) under(weight float64) float32 {
	const slack = 1e-9 // more than weights are off by
	v := d.best + d.temperature*(math.Log(weight)-slack)
	return below(float32(max(v, -math.MaxFloat32)))
}
