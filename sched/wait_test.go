package sched

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/blockmgr"
)

// Of those that could run, each that is not in the step says why; of those in line,
// nobody behind the first that is not offered.
func TestWaitsSayWhy(t *testing.T) {
	for name, c := range map[string]struct {
		config simConfig
		steps  int // messages before the answer that is looked at
		submit func(*sim)
		want   []Wait
	}{
		"no slot": {simConfig{page: 4, blocks: 32, slots: 1, tokens: 16, depth: 1}, 1, func(s *sim) {
			s.submit(1, prompt(3, 1), 9)
			s.submit(2, prompt(3, 2), 9)
			s.submit(3, prompt(3, 3), 9)
		}, []Wait{{Key: 2, Why: NoSlot}}},
		"no room, and behind": {simConfig{page: 4, blocks: 8, slots: 4, tokens: 64, depth: 1}, 0, func(s *sim) {
			s.submit(1, prompt(15, 1), 9)
			s.submit(2, prompt(20, 2), 2)
			s.submit(3, prompt(3, 3), 2)
		}, []Wait{{Key: 2, Why: NoRoom, Missing: 2}, {Key: 3, Why: Behind, On: 2}}},
		"still behind": {simConfig{page: 4, blocks: 8, slots: 4, tokens: 64, depth: 1}, 1, func(s *sim) {
			s.submit(1, prompt(15, 1), 9)
			s.submit(2, prompt(20, 2), 2)
			s.submit(3, prompt(3, 3), 2)
		}, []Wait{{Key: 3, Why: Behind, On: 2}, {Key: 2, Why: NoRoom, Missing: 2}}},
		"a page": {simConfig{page: 4, blocks: 32, slots: 4, tokens: 64, depth: 1, sharing: true}, 0, func(s *sim) {
			s.submit(1, prompt(15, 1), 9)
			s.submit(2, prompt(15, 1), 9)
		}, []Wait{{Key: 2, Why: Page, On: 1}}},
		"the budget": {simConfig{page: 4, blocks: 32, slots: 4, tokens: 8, depth: 1}, 1, func(s *sim) {
			s.submit(1, prompt(20, 1), 9)
			s.submit(2, prompt(3, 2), 9)
		}, []Wait{{Key: 2, Why: Budget}}},
		"the cache reads": {simConfig{page: 4, blocks: 32, slots: 4, tokens: 8, depth: 1, reads: 4}, 1, func(s *sim) {
			s.submit(1, prompt(3, 1), 9)
			s.submit(2, prompt(3, 2), 9)
		}, []Wait{{Key: 2, Why: Budget}}},
	} {
		s := newSim(t, c.config)
		c.submit(s)
		s.core.Resume()
		s.plan()
		for range c.steps {
			s.step()
		}
		for s.asked == nil {
			s.step()
		}
		if err := s.books.Reserve(s.asked, &s.answer); err != nil {
			t.Fatal(err)
		}
		if _, err := s.core.Reserved(&s.answer); err != nil {
			t.Fatal(err)
		}
		if got := s.core.Waits(&s.answer, nil); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAVictimSaysForWhom(t *testing.T) {
	s := newSim(t, simConfig{page: 4, blocks: 8, slots: 4, tokens: 64, depth: 1})
	s.core.Resume()
	s.submit(1, prompt(14, 1), 9)
	s.submit(2, prompt(14, 2), 9)
	var got []blockmgr.Preempted
	for len(got) == 0 {
		s.step()
		got = s.answer.Preempted
	}
	if p := got[0]; len(got) != 1 || s.core.KeyOf(p.Slot) != 2 || s.core.KeyOf(p.For) != 1 || p.Had != 4 {
		t.Errorf("given up: %+v", got)
	}
}
