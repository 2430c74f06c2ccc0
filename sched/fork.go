package sched

import (
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// fork lets the children of q be born in the batch that computes the last of its
// prompt: they sample from its logits, each by its own number, and hold its blocks.
// One that finds no slot becomes an ordinary request.
func (s *Scheduler) fork(b *batch, q *seq) {
	for len(q.children) > 0 && len(s.slots) > 0 {
		c := q.children[0]
		q.children = q.children[1:]
		c.state, c.parent = started, nil
		c.slot = s.slots[len(s.slots)-1]
		s.slots = s.slots[:len(s.slots)-1]
		s.bySlot[c.slot] = c
		s.active = insert(s.active, c)
		c.ids = slices.Grow(c.ids, int(c.limit)-len(c.ids))
		c.blocks = c.prompt / int32(s.cfg.PageSize) // the last one, if not full, is the parent's until it is copied
		c.cached, c.runs = q.cached, q.runs
		b.Admit = append(b.Admit, s.admission(c, q.slot))
		s.addRow(b, c, c.prompt, 0)
		s.next.Forks = append(s.next.Forks, blockmgr.Fork{Slot: int32(c.slot), Parent: int32(q.slot), IDs: c.ids})
	}
	s.orphan(q)
}

// orphan makes ordinary requests of the children that were not born.
func (s *Scheduler) orphan(q *seq) {
	for _, c := range q.children {
		c.state, c.parent = waiting, nil
		s.queue = insert(s.queue, c)
	}
	q.children = nil
}

func (s *Scheduler) admission(q *seq, parent executor.Slot) executor.Admit {
	return executor.Admit{Slot: q.slot, IDs: q.ids, PromptLen: q.prompt, Sampling: q.sampling, Seed: q.seed, Child: q.child, Adapter: q.adapter, Parent: parent}
}
