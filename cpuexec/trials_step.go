package cpuexec

import (
	"fmt"

	"github.com/cbactor/cbactor/executor/tuning"
)

// spans asks how many tokens of a prompt attend together, on a sequence of zeros in the
// first blocks of the cache.
func (t *trials) spans(to *tuning.Asker, f tuning.Effort) error {
	s := t.step
	number := s.cache.layers[0].group
	group := &s.cache.groups[number]
	n := min(512, s.config.MaxTokens, s.config.MaxContext, len(s.cache.mem)/group.block*s.cache.pageSize)
	q := tuning.Question{
		Key:     fmt.Sprintf("%d heads over %d of %d in %s, pages of %d, %d rounds, tokens that attend together", s.heads, s.kvHeads, s.headDim, s.config.KVType, s.cache.pageSize, f.Rounds()),
		Default: s.spanTokens(),
		Set:     func(v int) { s.spanLen = v; s.laySpans() },
		Rounds:  f.Rounds(), Longest: f.Longest(),
	}
	if group.window < n {
		q.Key += fmt.Sprintf(", the last %d", group.window)
	}
	for _, v := range []int{q.Default / 2, q.Default / 4} {
		if v > 0 && s.config.Attention == Tiled {
			q.Candidates = append(q.Candidates, v)
		}
	}
	attend := func(id int) { s.attend(id, 0) }
	q.Run = func() error {
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
	return to.Ask(&q)
}

// alone asks up to how many bytes of weights times tokens one thread computes: for ever
// more tokens, until it is not clearly faster. It only goes up from the default: what is
// measured here has the CPUs for itself, while in an engine others take them from a thread
// that is waited for. Of large models a single token has more.
func (t *trials) alone(to *tuning.Asker, f tuning.Effort) error {
	s, bytes := t.step, int(t.step.weights.area.size)
	if len(s.workers) == 1 {
		return nil
	}
	up := s.alone
	for n := aloneBytes/bytes + 1; n <= s.config.MaxTokens && n*bytes <= 8*aloneBytes; n *= 2 {
		work := n * bytes
		q := tuning.Question{
			Key:        fmt.Sprintf("%d layers of %d and %d, %d bytes, %d rounds, one thread alone", s.layers, s.hidden, s.inter, work, f.Rounds()),
			Candidates: []int{1},
			Set:        func(v int) { s.alone = v * work },
			Run: func() error {
				s.tokens = s.tokens[:n]
				s.mixture.give(s.perToken, n)
				return s.runOn(work, s.multiplyAll)
			},
			Rounds: f.Rounds(), Longest: f.Longest(),
		}
		if err := to.Ask(&q); err != nil {
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
