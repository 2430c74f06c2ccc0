package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/sampling"
)

// head computes the logits that are wanted, and what is drawn from or told of them. Of
// greedy rows, which come last, logits are compared as they are computed and not kept,
// unless one is not usable: then the sampler says what is wrong.
func (s *step) head(id int) {
	most := s.config.headRows()
	for at := 0; at < len(s.samples); at += most {
		some := s.samples[at:min(at+most, len(s.samples))]
		full := min(max(s.firstGreedy-at, 0), len(some)) // rows of logits
		s.headNorms(id, some)
		s.sync(id, OpNorm)
		if full < len(some) {
			s.headBest(id, full, len(some))
			s.sync(id, OpHead)
			s.showBest(id, len(some)-full)
			if s.usable(len(some) - full) {
				s.take(id, some[full:])
			} else {
				full = len(some)
			}
		}
		if full == len(some) {
			s.headProduct(id, full)
			s.sync(id, OpHead)
		}
		s.gatherLogits(id, full)
		if id == 0 && s.config.KeepLogits != nil && s.rank() == 0 {
			s.keepLogits(some)
		}
		s.draw(id, some[:full])
		s.sync(id, OpSample)
		s.showDrawn(id, some[:full])
	}
}

// headNorms normalises the last rows of this thread's samples.
func (s *step) headNorms(id int, some []sample) {
	lo, hi := share(len(some), id, s.threads)
	for i := lo; i < hi; i++ {
		s.normalise(&s.headIn, i, some[i].from, s.weights.norm)
	}
}

// headProduct writes this thread's columns of the logits.
func (s *step) headProduct(id, rows int) {
	m := &s.weights.head
	lo, hi := share(m.count(), id, s.threads)
	for t := range m.parts(rows, lo, hi, 1) {
		out := s.logits[t.r*s.headWidth+t.p*kernels.Panel:]
		s.multiply(m, &s.headIn, t, out, s.headWidth)
		s.shape(out, t.tiles(), t.stride(s.headWidth))
	}
}

// shape makes logits of what the head's product gives, rows of a panel's width: scaled and
// capped, where the model has that.
func (s *step) shape(x []float32, rows, stride int) {
	m := s.config.Model
	if m.LogitScale != 0 {
		for r := range rows {
			scale(x[r*stride:][:kernels.Panel], float32(m.LogitScale))
		}
	}
	if m.LogitSoftcap != 0 {
		s.kernels.CapTile(x, rows, stride, float32(m.LogitSoftcap))
	}
}

// row is the logits of sample i of those that went through the head together.
func (s *step) row(i int) []float32 {
	if s.whole != nil {
		return s.whole[i*s.vocab:][:s.vocab]
	}
	return s.logits[i*s.headWidth:][:s.vocab]
}

// draw draws or scores this thread's rows, of those that are this rank's.
func (s *step) draw(id int, some []sample) {
	lo, hi := share(len(some), id, s.threads)
	for i := lo; i < hi; i++ {
		if s.drawer(&some[i], i) == s.rank() {
			some[i].draw(s.workers[id].sampler, s.row(i))
		}
	}
}

// take gives this thread's greedy rows the ids that were found.
func (s *step) take(id int, greedy []sample) {
	lo, hi := share(len(greedy), id, s.threads)
	for i := lo; i < hi; i++ {
		greedy[i].drawn.ID = s.largest(i)
	}
}

// draw uses the logits of m.
func (m *sample) draw(sampler *sampling.Sampler, logits []float32) {
	q, out := m.slot, &m.drawn
	if m.told != nil {
		out = m.told
	}
	if m.score {
		m.err = sampler.Score(logits, q.ids[m.pos], q.sampling.Tell.Top, out)
		return
	}
	m.err = sampler.Sample(logits, &q.sampling, m.history(), sampling.Key{Seed: q.seed, Child: q.child, Position: int32(m.pos)}, out)
	m.drawn.ID = out.ID
}

// history is what m's sequence has.
func (m *sample) history() sampling.History {
	return sampling.History{IDs: m.slot.ids, Prompt: m.slot.prompt}
}

// keepLogits shows the logits of rows that sample to the configuration's hook.
func (s *step) keepLogits(some []sample) {
	for i := range some {
		if m := &some[i]; !m.score {
			s.config.KeepLogits(int(m.number), m.pos-1, s.row(i))
		}
	}
}
