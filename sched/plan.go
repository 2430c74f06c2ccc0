package sched

import (
	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// Plan returns the Reserve to send to blocks, nil when there is nothing to ask or
// to give back, or one is out already. Call it after every event.
func (s *Scheduler) Plan() *blockmgr.Reserve {
	if s.out {
		return nil
	}
	r := s.next
	s.letGo(r)
	s.sure = s.sure[:0]
	mayRun := !s.paused && len(s.flight) < s.cfg.Depth
	if mayRun && s.fresh {
		s.fresh = false
		s.choose(r)
	}
	drains := s.told < s.drainUntil && s.told < s.done
	if len(r.Done)+len(r.Release)+len(r.Candidates)+len(s.sure) == 0 && !drains && (!mayRun || len(s.retire) == 0) {
		return nil
	}
	r.Step, r.Epoch, r.DoneStep, s.told = s.step+1, s.epoch, s.done, s.done
	s.out, s.next, s.sent = true, s.sent, r
	return r
}

// letGo releases what ended sequences hold, and marks their slots for retirement.
func (s *Scheduler) letGo(r *blockmgr.Reserve) {
	for i, q := range s.gone {
		r.Release = append(r.Release, blockmgr.Release{Slot: int32(q.slot), After: q.lastStep})
		s.drainUntil = max(s.drainUntil, q.lastStep)
		if q.lastStep == 0 { // the executor never heard of it
			s.freeSlot(q.slot)
		} else {
			s.retire = append(s.retire, q.slot)
		}
		q.slot = executor.NoSlot
		s.gone[i] = nil
	}
	s.gone = s.gone[:0]
}

// choose fills the candidates: decoding sequences, then started prompts, then the queue, each by age.
func (s *Scheduler) choose(r *blockmgr.Reserve) {
	tokens := int32(s.cfg.MaxTokens)
	needed := int32(0)   // blocks that started ones ask for in this step
	promised := int32(0) // blocks that they need to hold their prompt and one token more
	for _, q := range s.active {
		if !q.decodes() || tokens == 0 {
			continue
		}
		tokens--
		if q.planned < q.blocks*int32(s.cfg.PageSize) {
			s.sure = append(s.sure, q)
			continue
		}
		r.Candidates = append(r.Candidates, blockmgr.Candidate{Slot: int32(q.slot), Position: q.planned, Want: 1, MayPreempt: true})
		needed++
		promised++
	}
	for _, q := range s.active {
		if q.decodes() || q.want() <= 0 {
			continue
		}
		promised += max(0, s.blocksFor(q.room())-q.blocks)
		count := min(q.want(), tokens)
		if count == 0 {
			continue
		}
		tokens -= count
		r.Candidates = append(r.Candidates, blockmgr.Candidate{Slot: int32(q.slot), Position: q.planned, Want: count, MayPreempt: true})
		needed += max(0, s.blocksFor(q.planned+count)-q.blocks)
	}
	if needed > int32(s.free) {
		s.offerVictims(r)
	}
	s.admit(r, tokens, int32(s.free)-promised)
	r.Budget.Tokens = int32(s.cfg.MaxTokens - len(s.sure))
	r.Budget.Rows = int32(s.cfg.MaxSlots - len(s.sure))
}

// offerVictims lists whom the started ones may be given up for, the youngest first.
func (s *Scheduler) offerVictims(r *blockmgr.Reserve) {
	for i := len(s.active) - 1; i >= 0; i-- {
		q := s.active[i]
		r.Victims = append(r.Victims, blockmgr.Victim{Slot: int32(q.slot), How: blockmgr.Recompute, After: q.lastStep})
	}
}

// admit offers waiting requests while tokens, slots and room (blocks) last. The
// first that does not fit keeps its place: nothing younger passes it.
func (s *Scheduler) admit(r *blockmgr.Reserve, tokens, room int32) {
	for _, q := range s.queue {
		need := s.blocksFor(q.room())
		if tokens == 0 || len(s.slots) == 0 || need > room {
			return
		}
		room -= need
		count := min(q.want(), tokens)
		tokens -= count
		q.state, q.slot = offered, s.slots[len(s.slots)-1]
		s.slots = s.slots[:len(s.slots)-1]
		s.bySlot[q.slot] = q
		r.Open = append(r.Open, blockmgr.Open{Slot: int32(q.slot), IDs: q.ids})
		r.Candidates = append(r.Candidates, blockmgr.Candidate{Slot: int32(q.slot), Position: 0, Want: count})
	}
}

func (s *Scheduler) blocksFor(tokens int32) int32 {
	return (tokens + int32(s.cfg.PageSize) - 1) / int32(s.cfg.PageSize)
}

func (s *Scheduler) freeSlot(slot executor.Slot) {
	s.bySlot[slot] = nil
	s.slots = append(s.slots, slot)
}
