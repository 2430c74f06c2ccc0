package sched

import (
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// Two requests outgrow the cache and there is a host pool: nothing is computed twice, the younger one's blocks go
// out and come back once. (Field report A4, with prompts of 60: those of 64 would be
// started one after the other, as the second could not hold one token more.)
func TestYoungerGoesToTheHostAndComesBack(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		s := resumedSim(t, simConfig{page: 16, blocks: 8, slots: 8, tokens: 128, depth: depth, host: 8})
		s.submit(1, prompt(60, 1), 32)
		s.submit(2, prompt(60, 2), 32)
		s.drain()
		s.check()
		if s.all[2].preempted != 1 || s.computed() != 182 || s.copies != 8 {
			t.Errorf("depth %d: given up %d times, %d tokens computed, %d blocks copied, want 1, 182 and 4 out and 4 in", depth, s.all[2].preempted, s.computed(), s.copies)
		}
	}
}

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

// Cancelled in the host pool, on the way there or on the way back: its host blocks are free again.
func TestCancelInTheHostPool(t *testing.T) {
	for at := range 140 {
		s := resumedSim(t, simConfig{page: 4, blocks: 8, slots: 8, tokens: 32, depth: 2, host: 8})
		s.submit(1, prompt(14, 1), 18)
		s.submit(2, prompt(14, 2), 18)
		for range at {
			s.step()
		}
		s.cancel(2)
		s.drain()
		s.check()
	}
}
