package cpuexec

import (
	"math"

	"github.com/cbactor/cbactor/cpuexec/kernels"
)

// best is what a thread has found of the greedy rows that go through the head together:
// the largest logit among its columns, and its id. A NaN says that one is NaN or +Inf.
type best struct {
	most  [maxHeadRows]float32
	which [maxHeadRows]int32
}

// reset forgets what was found.
func (b *best) reset() {
	for r := range b.most {
		b.most[r] = float32(math.Inf(-1))
	}
}

// add looks at panel p of the logits of so many rows, from number from on. What it has
// behind the vocabulary is made to win never.
func (b *best) add(set *kernels.Set, logits []float32, p, from, rows, vocab int) {
	first := p * kernels.Panel
	for c := vocab - first; c < kernels.Panel; c++ {
		for r := range rows {
			logits[r*kernels.Panel+c] = float32(math.Inf(-1))
		}
	}
	set.Best(logits, b.most[from:], b.which[from:], first, rows, kernels.Panel)
}

// onlyLargest says that nothing but the id of the largest logit is wanted of m: its row of
// logits then is never written.
func (s *step) onlyLargest(m *sample) bool {
	p := &m.slot.sampling
	return p.Greedy() && m.told == nil && s.config.KeepLogits == nil && !p.Processes(m.history())
}

// headBest is headProduct where the rows from full on are greedy: a panel's logits of
// these are looked at while they are in the first cache.
func (s *step) headBest(id, full, rows int) {
	m, w := &s.weights.head, &s.workers[id]
	w.best.reset()
	lo, hi := share(m.count(), id, s.threads)
	for t := range m.parts(rows, lo, hi, 1) {
		s.multiply(m, &s.headIn, t, w.tile, kernels.Panel)
		s.shape(w.tile, t.tiles(), kernels.Panel)
		kept := min(max(full-t.r, 0), t.rows) // of this part
		for r := range kept {
			copy(s.logits[(t.r+r)*s.headWidth+t.p*kernels.Panel:], w.tile[r*kernels.Panel:][:kernels.Panel])
		}
		if kept == t.rows {
			continue
		}
		for i := range t.panels {
			w.best.add(s.kernels, w.tile[(kept+i)*kernels.Panel:], t.p+i, t.r+kept-full, t.rows-kept, s.headRows)
		}
	}
}

// usable tells whether a token can be drawn from each of n greedy rows.
func (s *step) usable(n int) bool {
	for r := range n {
		if s.largest(r) < 0 {
			return false
		}
	}
	return true
}

// largest is the id of the largest logit of greedy row r, the lowest id among equals, for
// threads and ranks have ascending columns; -1: a logit is NaN or +Inf, or all are -Inf.
func (s *step) largest(r int) int32 {
	if s.shared.room == nil {
		id, _ := s.largestHere(r)
		return id
	}
	return s.largestOfAll(r)
}

// largestHere is that of the outputs that are computed here, and the logit.
func (s *step) largestHere(r int) (int32, float32) {
	id, most := int32(-1), float32(math.Inf(-1))
	for t := range s.threads {
		b := &s.workers[t].best
		switch v := b.most[r]; {
		case v != v:
			return -1, v
		case v > most:
			id, most = b.which[r], v
		}
	}
	return id, most
}
