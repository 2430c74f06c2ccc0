package sched

import (
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// The rows of a step read at most so many cache positions together; one row always goes.
func TestReadsOfAStepAreBounded(t *testing.T) {
	s := resumedSim(t, simConfig{page: 16, blocks: 64, slots: 8, tokens: 64, depth: 1, reads: 100})
	for k := Key(1); k <= 6; k++ {
		s.submit(k, prompt(40, int(k)), 30)
	}
	s.submit(7, prompt(200, 7), 5)
	most := 0
	s.onBatch = func(b *executor.Batch) {
		reads := 0
		for _, r := range b.Rows {
			reads += int(r.Start)
		}
		if reads > 100 && len(b.Rows) > 1 {
			t.Errorf("step %d reads %d positions in %d rows", b.Step, reads, len(b.Rows))
		}
		most = max(most, reads)
	}
	s.drain()
	s.check()
	if most < 200 {
		t.Errorf("the long request never read more than %d positions: was it run?", most)
	}
}

// A prompt that has started is computed beside requests that decode and leave it too few
// reads, however many younger ones arrive: in every second step, since it goes first in
// the step behind one that it was left out of.
func TestNoPromptStarvesForReads(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		s := resumedSim(t, simConfig{page: 4, blocks: 200, slots: 4, tokens: 16, depth: depth, reads: 50})
		s.submit(1, prompt(30, 1), 60)
		for s.core.step < 4 {
			s.step()
		}
		s.submit(2, prompt(160, 2), 2)
		for k := Key(3); s.all[2].end == Running; s.step() {
			if waiting, started := s.core.Load(); waiting == 0 && started < 4 {
				s.submit(k, prompt(3, int(k)), 20)
				k++
			}
			if s.core.step > 40 { // 160 tokens of at most 16 in 10 to 13 steps, as many without it, and two for its tokens
				t.Fatalf("depth %d: %d of 160 tokens are computed in step %d", depth, s.all[2].computed, s.core.step)
			}
		}
		s.drain()
		s.check()
	}
}
