package sampling

import "math"

// keep fills s.kept with the tokens that the filters of p leave of d, each by what
// the one before left: top-k, top-p, min-p, typical-p, as Transformers has them. -Inf
// is never kept; there is always one.
//
// top-k drops what is below the k-th largest logit, so ties at it stay.
func (s *Sampler) keep(d *distribution, p *Params) {
	lowest := s.kth(d.logits, int(p.TopK))
	s.kept.reset()
	for i, v := range d.logits {
		if v >= lowest {
			s.kept.add(int32(i), weight(d.at(int32(i))))
		}
	}
	if p.TopP > 0 && p.TopP < 1 {
		s.topP(d, float64(p.TopP))
	}
	if p.MinP > 0 {
		s.minP(float64(p.MinP))
	}
	if p.TypicalP > 0 && p.TypicalP < 1 {
		s.typicalP(d, float64(p.TypicalP))
	}
}

// topP is: in ascending order, drop while the cumulative probability is at most
// 1-p. Seen from above, a token stays while the probability of those before it is
// below p. Among equals at the border the lower ids stay.
func (s *Sampler) topP(d *distribution, p float64) {
	ranks := s.kept.ranks[:0]
	for _, id := range s.kept.ids {
		ranks = append(ranks, rank(d.logits[id]))
	}
	need := p * s.kept.total()
	lowest, above := s.border(ranks, s.kept.weights, need)
	all := s.kept
	s.kept.reset()
	for i, r := range ranks {
		if r < lowest || r == lowest && above >= need {
			continue
		}
		if r == lowest {
			above += all.weights[i]
		}
		s.kept.add(all.ids[i], all.weights[i])
	}
}

// minP drops what has less than p of the most likely token's probability. That one
// has weight 1 and was kept so far.
func (s *Sampler) minP(p float64) {
	all := s.kept
	s.kept.reset()
	for i, w := range all.weights {
		if w >= p {
			s.kept.add(all.ids[i], w)
		}
	}
}

// typicalP orders tokens by how far their surprise, minus the logarithm of their
// probability, is from its mean, the entropy, the nearest first, and keeps them up
// to the one at which their probability reaches p; ties with that one stay. Meister
// et al., "Locally Typical Sampling", TACL 2023. Distances are compared as float32.
func (s *Sampler) typicalP(d *distribution, p float64) {
	total := s.kept.total()
	logTotal, entropy := math.Log(total), 0.0
	for i, w := range s.kept.weights {
		if w > 0 {
			entropy -= w / total * (d.at(s.kept.ids[i]) - logTotal)
		}
	}
	ranks := s.kept.ranks[:0]
	for _, id := range s.kept.ids {
		away := math.Abs(logTotal - d.at(id) - entropy)
		ranks = append(ranks, rank(float32(-away)))
	}
	lowest, _ := s.border(ranks, s.kept.weights, p*total)
	all := s.kept
	s.kept.reset()
	for i, r := range ranks {
		if r >= lowest {
			s.kept.add(all.ids[i], all.weights[i])
		}
	}
}
