package sched

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// Reserved takes the answer of blocks and returns the Batch to hand over, nil when
// no row came of it and no block drains until its step is done, or when the batch
// waits for copies: then Swap has what to ask.
func (s *Scheduler) Reserved(rd *blockmgr.Reserved) (*executor.Batch, error) {
	if !s.out || rd.Step != s.step+1 {
		return nil, fmt.Errorf("%w: an answer for step %d, which was not asked", ErrProtocol, rd.Step)
	}
	s.out = false
	s.sent.Reset()
	s.fresh = s.fresh || rd.Free > s.free
	s.free = rd.Free

	b := s.newBatch()
	for i := range rd.Preempted {
		s.giveUp(&rd.Preempted[i])
	}
	for _, q := range s.sure {
		if q.state == started { // not given up for an older one, not cancelled
			s.addRow(b, q, q.planned, 1)
		}
	}
	for i := range rd.Grants {
		s.granted(b, &rd.Grants[i])
	}
	for _, c := range rd.Copies {
		s.drainUntil = b.Step                // its source waits for this step
		if s.bySlot[c.Slot].state == ended { // cancelled since: its blocks do not wait for this step
			continue
		}
		b.Copies = append(b.Copies, executor.Copy{Kind: executor.CopyFork, Group: c.Group, From: c.From, To: c.To})
	}
	s.refused(rd.Refused)
	swaps := len(s.swap.Out)+len(s.swap.In) > 0
	if len(b.Rows)+len(rd.Copies) == 0 && !swaps && (len(s.retire) == 0 || !s.goesOn() || len(s.flight) >= s.cfg.Depth) {
		s.spare = append(s.spare, b)
		s.fresh = s.fresh || s.unread != nil // whom it had to leave reads for did not run: another choice lets this one go first
		return nil, nil
	}
	b.Retire = append(b.Retire, s.retire...)
	for _, slot := range s.retire {
		s.retired = append(s.retired, retired{slot, b.Step})
	}
	s.retire, s.fresh = s.retire[:0], true
	if swaps {
		s.held = b
		return nil, nil
	}
	return s.handOver(b), nil
}

// refused notes who lacked blocks. A started prompt that did has kept tokens from the
// decoding sequences if it went first: another choice lets these go first.
func (s *Scheduler) refused(refused []blockmgr.Refusal) {
	stuck := false
	s.crowded = false
	for _, f := range refused {
		if q := s.bySlot[f.Slot]; f.Missing > 0 {
			s.crowded = s.crowded || q.state == offered
			stuck = stuck || q.state == started && !q.decodes()
		} else if q.state == started { // the budget's tokens and rows are for all that are asked for
			s.lacksReads(q)
		}
	}
	s.fresh = s.fresh || stuck && !s.stuck
	s.stuck = stuck
}

func (s *Scheduler) handOver(b *batch) *executor.Batch {
	s.step = b.Step
	s.flight = append(s.flight, b)
	return &b.Batch
}

func (s *Scheduler) newBatch() *batch {
	var b *batch
	if n := len(s.spare); n > 0 {
		b = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		b = new(batch)
	}
	b.Step, b.Epoch, b.changes = s.step+1, s.serving.Epoch, s.changes
	return b
}

// granted gives a slot its new blocks and its row, if it has one.
func (s *Scheduler) granted(b *batch, g *blockmgr.Grant) {
	q := s.bySlot[g.Slot]
	if q.state == ended { // cancelled since: its release is on the way
		return
	}
	if q.state == offered {
		s.queue = remove(s.queue, q)
		s.active = insert(s.active, q)
		q.state, q.found = started, g.Matched
		s.begin(q)
		if q.preemptions == 0 {
			q.cached = g.Matched
		}
		if q.hosted > 0 {
			s.comeBack(q, g.New)
		} else {
			q.runs = s.single
		}
		q.ids = slices.Grow(q.ids, int(q.limit)-len(q.ids))
		b.Admit = append(b.Admit, s.admission(q, executor.NoSlot))
	}
	for _, a := range g.New {
		from := len(b.blocks)
		b.blocks = append(b.blocks, a.Blocks...)
		b.Tables = append(b.Tables, executor.Table{Slot: q.slot, Group: a.Group, Index: a.Index, Blocks: b.blocks[from:len(b.blocks):len(b.blocks)]})
		q.blocks = max(q.blocks, a.Index+int32(len(a.Blocks)))
	}
	if g.Count == 0 { // its cache comes from the host while others compute; its row is in a later step
		q.lastStep = b.Step
		return
	}
	s.addRow(b, q, g.Start, g.Count)
	if q.children != nil && q.planned == q.prompt {
		s.fork(b, q)
	}
}

func (s *Scheduler) addRow(b *batch, q *seq, start, count int32) {
	end := start + count
	sample := end == q.length() && !q.scored()
	b.Rows = append(b.Rows, executor.Row{Slot: q.slot, Start: start, Count: count, Sample: sample, Mask: -1, PromptLogprobs: q.asks(start, end)})
	q.planned, q.lastStep = end, b.Step
	if count > 0 {
		q.wrote(b.Epoch, start)
	}
	if sample {
		q.pending++
	}
}

// Begun appends to list the sequences that a batch starts for the first time. Call
// it when the batch is handed over.
func (s *Scheduler) Begun(b *executor.Batch, list []Key) []Key {
	for i := range b.Admit {
		if q := s.bySlot[b.Admit[i].Slot]; q.preemptions == 0 {
			list = append(list, q.key)
		}
	}
	return list
}

// giveUp turns a victim back into a waiting request.
func (s *Scheduler) giveUp(p *blockmgr.Preempted) {
	q := s.bySlot[p.Slot]
	if q.state == ended { // cancelled since; blocks closed the slot already: no second release
		s.gone = slices.DeleteFunc(s.gone, func(o *seq) bool { return o == q })
		s.retire = append(s.retire, q.slot)
		return
	}
	if p.How == blockmgr.ToHost {
		s.leaveForHost(q, p.Blocks)
	} else {
		q.planned = 0
	}
	s.leave(q)
}

// leave takes slot and cache from q, which waits again once no step in flight names it.
func (s *Scheduler) leave(q *seq) {
	s.drainUntil = max(s.drainUntil, q.lastStep)
	s.active = remove(s.active, q)
	s.retire = append(s.retire, q.slot)
	q.slot, q.blocks = executor.NoSlot, 0
	q.preemptions++
	if q.lastStep > s.done {
		q.state = leaving
		s.leaving = insert(s.leaving, q)
		return
	}
	s.wait(q)
}

func (s *Scheduler) wait(q *seq) {
	q.state, q.lastStep = waiting, 0
	s.queue = insert(s.queue, q)
}
