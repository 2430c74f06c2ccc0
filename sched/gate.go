package sched

import "github.com/cbactor/cbactor/blockmgr"

// gate says who may be in a step.
type gate uint8

const (
	shut      gate = iota // nobody
	paused                // who is urgent
	finishing             // and who has begun
	running               // all
)

// Resume lets all requests go on.
func (s *Scheduler) Resume() { s.set(running) }

// Finish lets go on what has begun, until it ends, and nothing else.
func (s *Scheduler) Finish() { s.set(finishing) }

// Pause lets only urgent requests go on. A plan whose Reserve is out is handed over even so.
func (s *Scheduler) Pause() { s.set(paused) }

// Shut lets nothing go on; a plan whose Reserve is out is handed over even so.
func (s *Scheduler) Shut() { s.set(shut) }

func (s *Scheduler) set(g gate) { s.gate, s.fresh = g, true }

// may tells whether q may be in a step.
func (s *Scheduler) may(q *seq) bool {
	switch s.gate {
	case running:
		return true
	case finishing:
		return q.begun || q.urgent
	case paused:
		return q.urgent
	}
	return false
}

// goesOn tells that there may be somebody who may be in a step.
func (s *Scheduler) goesOn() bool {
	switch s.gate {
	case running:
		return true
	case finishing:
		return s.Unfinished() || s.urgent > 0
	case paused:
		return s.urgent > 0
	}
	return false
}

// Unfinished tells that a request has begun and not ended, of those that are not urgent.
func (s *Scheduler) Unfinished() bool { return s.begun > 0 }

// Still tells that no step runs, and that none will before the next call of Resume,
// Finish or Pause, or the next urgent request.
func (s *Scheduler) Still() bool { return s.Quiet() && !s.goesOn() }

// begin notes that q is started for the first time, if it is, and with it those that
// are to be forked from it.
func (s *Scheduler) begin(q *seq) {
	if q.begun || q.urgent {
		return
	}
	q.begun = true
	s.begun++
	for _, c := range q.children {
		s.begin(c)
	}
}

// uncount notes that q ends.
func (s *Scheduler) uncount(q *seq) {
	if q.begun {
		s.begun--
	}
	if q.urgent {
		s.urgent--
	}
}

// GiveUpAll takes the cache from all sequences and empties it, the host pool too.
// They keep their tokens and their places in line, and are computed again. Nothing
// may be in flight: see Quiet. It appends to list who had any.
func (s *Scheduler) GiveUpAll(list []Key) []Key {
	for len(s.active) > 0 {
		q := s.active[len(s.active)-1]
		s.evict(q)
		list = append(list, q.key)
	}
	for _, q := range s.queue {
		if q.hosted > 0 {
			s.dropHosted(q)
			q.planned = 0
			list = append(list, q.key)
		}
	}
	s.next.Empty, s.fresh = true, true
	return list
}

// evict gives up q, which is started, without a word of blocks: its tokens will be
// computed again.
func (s *Scheduler) evict(q *seq) {
	s.next.Release = append(s.next.Release, blockmgr.Release{Slot: int32(q.slot), After: q.lastStep})
	q.planned = 0
	s.leave(q)
}
