package sched

import (
	"cmp"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// Plan returns the Reserve to send to blocks, nil when there is nothing to ask or
// to give back, or one is out already. Call it after every event.
func (s *Scheduler) Plan() *blockmgr.Reserve {
	if s.out || s.held != nil {
		return nil
	}
	s.renew()
	r := s.next
	s.letGo(r)
	s.sure, s.passed = s.sure[:0], s.passed[:0]
	mayRun := s.goesOn() && len(s.flight) < s.cfg.Depth
	if mayRun && s.fresh {
		s.fresh = false
		s.choose(r)
	}
	drains := s.told < s.drainUntil && s.told < s.done
	if len(r.Forks)+len(r.Done)+len(r.Release)+len(r.Candidates)+len(s.sure) == 0 && !drains && !r.Empty && s.heard == s.serving.Epoch && (!mayRun || len(s.retire) == 0) {
		return nil
	}
	r.Step, r.Epoch, r.DoneStep = s.step+1, s.serving.Epoch, s.done
	s.told, s.heard = s.done, r.Epoch
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

// maxOffers bounds how many waiting requests are offered beside those that run.
const maxOffers = 64

// offer makes candidates of the oldest waiting requests, as far as slots last. One
// that is not granted keeps its slot, and blocks keep what they know of it, until
// somebody before it in line lacks one. While the oldest lacks blocks, nothing younger
// is offered. With no tokens left, only those at the head are that come from the host
// pool and compute in a later step. It tells whether an urgent one is among them.
func (s *Scheduler) offer(r *blockmgr.Reserve, tokens int32) (urgent bool) {
	var first *seq
	offers, behind := 0, int32(s.urgentStarted())-1
	for _, q := range s.queue {
		if !s.may(q) {
			if s.gate == paused { // who is urgent stands before all others
				return urgent
			}
			continue
		}
		if offers == maxOffers {
			return urgent
		}
		want := q.want()
		if q.hosted > 0 && s.cfg.Overlap {
			want = 0
		}
		if tokens == 0 && want > 0 {
			s.pass(q, Budget, 0)
			return urgent
		}
		if s.crowded && first != nil {
			s.pass(q, Behind, first.key)
			return urgent
		}
		first = cmp.Or(first, q)
		offers++
		if q.state == waiting {
			if len(s.slots) == 0 && !s.takeBack(r, q) {
				s.pass(q, NoSlot, 0)
				return urgent
			}
			q.state, q.slot = offered, s.slots[len(s.slots)-1]
			s.slots = s.slots[:len(s.slots)-1]
			s.bySlot[q.slot] = q
			r.Open = append(r.Open, blockmgr.Open{Slot: int32(q.slot), IDs: q.ids, Private: q.private, Salt: q.salt})
		}
		urgent = urgent || q.urgent
		r.Candidates = append(r.Candidates, blockmgr.Candidate{Slot: int32(q.slot), Position: q.planned, Want: want, Room: q.room(),
			MayMatch: s.cfg.Sharing && q.mayMatch(), FromHost: q.hosted > 0, Epoch: q.epoch(), MayPreempt: q.urgent, Place: behind})
	}
	return urgent
}

// takeBack frees the slot of the last in line behind q that holds one and waits.
func (s *Scheduler) takeBack(r *blockmgr.Reserve, q *seq) bool {
	var last *seq
	for _, o := range s.bySlot {
		if o != nil && o.state == offered && inLine(o, cmp.Or(last, q)) > 0 {
			last = o
		}
	}
	if last == nil {
		return false
	}
	r.Release = append(r.Release, blockmgr.Release{Slot: int32(last.slot)})
	s.freeSlot(last.slot)
	last.state, last.slot = waiting, executor.NoSlot
	return true
}

func (s *Scheduler) blocksFor(tokens int32) int32 {
	return (tokens + int32(s.cfg.PageSize) - 1) / int32(s.cfg.PageSize)
}

func (s *Scheduler) freeSlot(slot executor.Slot) {
	s.bySlot[slot] = nil
	s.slots = append(s.slots, slot)
}
