package cpuexec

import (
	"fmt"
)

// spans asks how many tokens of a prompt attend together, on a sequence of zeros in the
// first blocks of the cache.
func (t *trials) spans(to *tuner, f Effort) error {
	s := t.step
	number := s.cache.layers[0].group
	group := &s.cache.groups[number]
	n := min(512, s.config.MaxTokens, s.config.MaxContext, len(s.cache.mem)/group.block*s.cache.pageSize)
	q := question{
		key:    fmt.Sprintf("%d heads over %d of %d in %s, pages of %d, %d rounds, tokens that attend together", s.heads, s.kvHeads, s.headDim, s.config.KVType, s.cache.pageSize, f.rounds()),
		def:    s.spanTokens(),
		set:    func(v int) { s.spanLen = v; s.laySpans() },
		rounds: f.rounds(), longest: f.longest(),
	}
	if group.window < n {
		q.key += fmt.Sprintf(", the last %d", group.window)
	}
	for _, v := range []int{q.def / 2, q.def / 4} {
		if v > 0 && s.config.Attention == Tiled {
			q.candidates = append(q.candidates, v)
		}
	}
	attend := func(id int) { s.attend(id, 0) }
	q.run = func() error {
		s.nextHead[0].Store(0)
		return s.pool.Run(attend)
	}
	slot := &s.slots[0]
	table := slot.tables[number]
	s.tokens = s.tokens[:n]
	for i := range s.tokens {
		s.tokens[i] = token{slot: slot, pos: i}
		table[i/s.cache.pageSize] = int32(i / s.cache.pageSize)
	}
	defer func() {
		clear(table)
		clear(s.tokens)
		s.tokens = s.tokens[:0]
		s.laySpans()
	}()
	s.threads = len(s.workers)
	if err := s.pool.Run(func(id int) { s.store(id, 0) }); err != nil {
		return err
	}
	return to.ask(&q)
}

// alone asks up to how many bytes of weights times tokens one thread computes: for ever
// more tokens, until it is not clearly faster. It only goes up from the default: what is
// measured here has the CPUs for itself, while in an engine others take them from a thread
// that is waited for. Of large models a single token has more.
func (t *trials) alone(to *tuner, f Effort) error {
	s, bytes := t.step, int(t.step.weights.area.size)
	if len(s.workers) == 1 {
		return nil
	}
	up := s.alone
	for n := aloneBytes/bytes + 1; n <= s.config.MaxTokens && n*bytes <= 8*aloneBytes; n *= 2 {
		work := n * bytes
		q := question{
			key:        fmt.Sprintf("%d layers of %d and %d, %d bytes, %d rounds, one thread alone", s.layers, s.hidden, s.inter, work, f.rounds()),
			candidates: []int{1},
			set:        func(v int) { s.alone = v * work },
			run: func() error {
				s.tokens = s.tokens[:n]
				s.mixture.give(s.perToken, n)
				return s.runOn(work, s.multiplyAll)
			},
			rounds: f.rounds(), longest: f.longest(),
		}
		if err := to.ask(&q); err != nil {
			return err
		}
		if s.alone == 0 {
			break
		}
		up = work
	}
	s.alone = up
	return nil
}

// multiplyAll is a thread's part of a step without its attention and sampling, where all
// tokens take the same experts.
func (s *step) multiplyAll(id int) {
	for l := range s.layers {
		for j := range joints {
			s.multiplyLayer(id, l, j)
			s.pool.Sync()
		}
	}
	s.headProduct(id, 1)
}
