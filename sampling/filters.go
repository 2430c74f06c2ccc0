package sampling

import "math"

// filters says whether some tokens may be dropped from the distribution.
func (p *Params) filters() bool {
	return p.TopK > 0 || p.cutsP() || p.MinP > 0 || p.TypicalP > 0 && p.TypicalP < 1
}

func (p *Params) cutsP() bool { return p.TopP > 0 && p.TopP < 1 }

// keep fills s.kept with the tokens that the filters of p leave of d, each by what
// the one before left: top-k, top-p, min-p, typical-p, as Transformers has them. -Inf
// is never kept; there is always one.
//
// top-k drops what is below the k-th largest logit, so ties at it stay.
func (s *Sampler) keep(d *distribution, p *Params) {
	switch {
	case p.TopK > 0:
		s.gather(d, below(s.kth(d.logits, int(p.TopK))))
		d.total = s.kept.total()
	case p.cutsP():
		s.gatherP(d, float64(p.TopP))
	default:
		s.gather(d, d.under(float64(p.MinP)))
	}
	if p.cutsP() {
		s.topP(d, float64(p.TopP)*d.total)
	}
	if p.MinP > 0 {
		s.minP(float64(p.MinP))
	}
	if p.TypicalP > 0 && p.TypicalP < 1 {
		s.typicalP(d, float64(p.TypicalP))
	}
}

// gather keeps the tokens whose logits are above a bound.
func (s *Sampler) gather(d *distribution, bound float32) {
	s.kept.reset()
	ids := s.kept.ids
	for i := 0; i < len(d.logits); {
		i += s.passes.Above(d.logits[i:], bound)
		for ; i < len(d.logits) && d.logits[i] > bound; i++ {
			ids = append(ids, int32(i))
		}
	}
	weights := s.kept.weights[:len(ids)]
	for at := 0; at < len(ids); at += Block {
		part := ids[at:min(at+Block, len(ids))]
		for i, id := range part {
			s.some[i] = d.logits[id]
		}
		s.weigh(d, s.some[:len(part)], weights[at:])
	}
	s.kept.ids, s.kept.weights = ids, weights
}

// gatherP keeps what topP may: there are too few tokens for those below a weight to have
// more than 1-p of all together. Nearly always what is above a larger one is enough.
func (s *Sampler) gatherP(d *distribution, p float64) {
	if d.total == 0 { // else it is that of the raw logits
		d.total = s.sumAll(d)
	}
	none := 0.999 * (1 - p) * d.total / float64(len(d.logits))
	if s.gather(d, d.under(16*none)); s.kept.total() < (1+1e-9)*p*d.total {
		s.gather(d, d.under(none))
	}
}

// topP is: in ascending order, drop while the cumulative probability is at most
// 1-p. Seen from above, a token stays while the weight of those before it is below need,
// which is p of the total. Among equals at the border the lower ids stay.
func (s *Sampler) topP(d *distribution, need float64) {
	ranks := s.kept.ranks[:0]
	for _, id := range s.kept.ids {
		ranks = append(ranks, rank(d.logits[id]))
	}
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
// The logarithm may be rounded otherwise on another CPU.
func (s *Sampler) typicalP(d *distribution, p float64) {
	total := s.kept.total()
	logTotal, entropy := math.Log(total), 0.0
	for i, w := range s.kept.weights {
		if w > 0 {
			entropy -= float64(w / total * (d.at(s.kept.ids[i]) - logTotal))
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
