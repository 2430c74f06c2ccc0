package sched

import "github.com/cbactor/cbactor/blockmgr"

// nextUrgent is the urgent one that is the first in line, nil: the first is none.
func (s *Scheduler) nextUrgent() *seq {
	if len(s.queue) > 0 && s.queue[0].urgent && s.may(s.queue[0]) {
		return s.queue[0]
	}
	return nil
}

// urgentStarted is how many started ones are urgent: they are the first in line.
func (s *Scheduler) urgentStarted() int {
	for i, q := range s.active {
		if !q.urgent {
			return i
		}
	}
	return len(s.active)
}

// slotForUrgent gives up the newest started one, if the urgent one that is the first in
// line has no slot, nobody who waits holds one, and none is on its way back.
func (s *Scheduler) slotForUrgent(r *blockmgr.Reserve) {
	q, n := s.nextUrgent(), len(s.active)
	if q == nil || q.state != waiting || len(s.slots) > 0 || s.takeBack(r, q) {
		return
	}
	if n > s.urgentStarted() && len(s.retire)+len(s.retired) == 0 {
		s.evict(s.active[n-1])
	}
}
