package sched

import "github.com/cbactor/cbactor/blockmgr"

// Why says why a sequence that could run is not in a step.
type Why uint8

const (
	NoSlot Why = iota + 1 // as many run as may
	NoRoom                // blocks are missing
	Behind                // an older one waits for room
	Page                  // another computes the page that it needs next
	Budget                // the tokens or cache reads of the step are used up
)

// Wait is one sequence that is not in a step.
type Wait struct {
	Key     Key
	Why     Why
	On      Key   // with Behind and Page: who is waited for
	Missing int32 // with NoRoom: blocks
}

// Waits appends to list who could run and is not in the step that rd plans: all
// that are started, and of those in line as many as were looked at, which is no
// more than were offered and one. Call it after Reserved and before the next Plan.
func (s *Scheduler) Waits(rd *blockmgr.Reserved, list []Wait) []Wait {
	list = append(list, s.passed...)
	for _, w := range rd.Waits {
		list = append(list, Wait{Key: s.KeyOf(w.Slot), Why: Page, On: s.KeyOf(w.On)})
	}
	head := Key(0) // refused for lack of room, with room kept for it
	for _, f := range rd.Refused {
		q := s.bySlot[f.Slot]
		if q.state != offered && q.state != started { // given up in this plan, or cancelled
			continue
		}
		w := Wait{Key: q.key, Why: Budget}
		switch {
		case f.Missing > 0:
			w.Why, w.Missing = NoRoom, f.Missing
			if q.state == offered {
				head = q.key
			}
		case q.state == offered && head != 0:
			w.Why, w.On = Behind, head
		}
		list = append(list, w)
	}
	return list
}

// KeyOf names who holds a slot, or held it last; 0 when it is free.
func (s *Scheduler) KeyOf(slot blockmgr.Slot) Key {
	if q := s.bySlot[slot]; q != nil {
		return q.key
	}
	return 0
}

// pass notes that a sequence that could run is no candidate.
func (s *Scheduler) pass(q *seq, why Why, on Key) {
	s.passed = append(s.passed, Wait{Key: q.key, Why: why, On: on})
}
