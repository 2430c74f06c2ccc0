package sched

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// Two requests outgrow the cache and there is a host pool: nothing is computed twice, the
// younger one's blocks go out and come back once. (Field report A4, with prompts of 60: those of 64 would be
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

// What comes back from the host pool is published under the epoch that computed it, and
// not at all when several did.
func TestTheHostKeepsTheEpoch(t *testing.T) {
	for _, c := range []struct {
		from, before, after uint32
		cached              int32
	}{
		{1, 1, 1, 12}, // pages of 4 that a prompt of 14 finds
		{1, 1, 2, 0},
		{1, 2, 2, 0},
		{2, 2, 2, 12},
	} {
		s := resumedSim(t, simConfig{page: 4, blocks: 8, slots: 8, tokens: 32, depth: 1, host: 8, sharing: true})
		s.turnTo(c.from)
		s.submit(1, prompt(14, 1), 18)
		s.submit(2, prompt(14, 2), 18)
		for ; s.core.host == 8; s.step() {
			if s.core.step == 2 {
				s.turnTo(c.before)
			}
		}
		s.turnTo(c.after)
		s.submit(3, prompt(14, 3), 18) // evicts what 2 left behind
		s.submit(4, prompt(14, 2), 1)
		s.drain()
		if got := s.all[4].cached; got != c.cached {
			t.Errorf("epochs %d, %d, and %d when it is back: its text is found up to %d, want %d", c.from, c.before, c.after, got, c.cached)
		}
	}
}

// turnTo lets weights of an epoch compute, if those before do.
func (s *sim) turnTo(epoch uint32) {
	if epoch > s.serving.Epoch {
		s.commit(Keep, false)
	}
}

// Cancelled in the host pool, on the way there or on the way back: its host blocks are free again.
func TestCancelInTheHostPool(t *testing.T) {
	for _, overlap := range []bool{false, true} {
		for at := range 140 {
			s := resumedSim(t, simConfig{page: 4, blocks: 8, slots: 8, tokens: 32, depth: 2, host: 8, overlap: overlap})
			s.submit(1, prompt(14, 1), 18)
			s.submit(2, prompt(14, 2), 18)
			for range at {
				s.step()
			}
			s.cancel(2)
			s.submit(3, prompt(14, 3), 2) // in the same slot
			s.submit(4, prompt(14, 4), 2)
			s.drain()
			s.check()
		}
	}
}

// Who comes back where copies overlap with rows never lets the others wait, and a
// step's tokens are all for them: each has its row in every step, and the same ones as
// without. Nothing is given up for who comes back.
func TestOthersGoOnWhileOneComesBack(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		back := 0
		s := resumedSim(t, simConfig{page: 4, blocks: 12, slots: 8, tokens: 32, depth: depth, host: 8, overlap: true})
		s.submit(1, prompt(14, 1), 12)
		s.submit(2, prompt(14, 2), 5)
		s.submit(3, prompt(14, 3), 6)
		s.onBatch = func(b *executor.Batch) {
			copies := slices.ContainsFunc(b.Copies, func(c executor.Copy) bool { return c.Kind == executor.CopyIn })
			if !copies {
				return
			}
			back++
			first := s.core.byKey[1]
			if len(b.Rows) != 1 || b.Rows[0].Slot != first.slot || len(s.answer.Preempted) > 0 {
				t.Errorf("depth %d: step %d copies in, and has rows %+v", depth, b.Step, b.Rows)
			}
		}
		s.drain()
		s.check()
		if back != 1 {
			t.Errorf("depth %d: %d steps copy in, want 1", depth, back)
		}
	}
}

// A host pool of no blocks is none: every plan is the same, whatever copies cost and
// whether they overlap.
func TestNoHostPoolIsNoSwap(t *testing.T) {
	operations := 3000
	if testing.Short() {
		operations /= 5
	}
	run := func(c simConfig) (batches []string) {
		w := workload{sim: resumedSim(t, c), pick: seeded(5), next: 1}
		w.onBatch = func(b *executor.Batch) { batches = append(batches, fmt.Sprintf("%+v", *b)) }
		for range operations {
			w.operate()
		}
		w.finish()
		return batches
	}
	c := simConfig{page: 4, blocks: 24, slots: 6, tokens: 16, depth: 2, sharing: true}
	plain := run(c)
	c.copyCost, c.overlap = 0.1, true
	if !slices.Equal(plain, run(c)) {
		t.Error("other batches")
	}
}
