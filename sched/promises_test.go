package sched

import (
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// watch notes what the answer to a Reserve must bring. The same is not asked twice
// when nothing happened in between: that would be a loop of messages.
func (s *sim) watch(r *blockmgr.Reserve) {
	s.t.Helper()
	s.decoding, s.oldest = s.decoding[:0], nil
	plans := len(r.Candidates)+len(s.core.sure) > 0
	if !s.news && (plans || len(r.Forks)+len(r.Done)+len(r.Release) == 0) {
		s.t.Fatalf("the plan of step %d is asked for again, and nothing happened", r.Step)
	}
	s.news = false
	if !plans || s.config.policy == PrefillFirst || s.config.reads > 0 || s.ledger == nil {
		return
	}
	for _, q := range s.core.active {
		if q.decodes() {
			s.decoding = append(s.decoding, q)
		}
	}
	if len(s.decoding) > 0 && s.decoding[0] == s.core.active[0] && len(s.running) == 0 {
		s.oldest = s.decoding[0]
	}
}

// nobodyLeftOut wants a row for every sequence that was decoding when the plan was
// made, unless it ended since, or no block was left for it (field report A2). The
// oldest of all has its block when nothing is in flight.
func (s *sim) nobodyLeftOut() {
	s.t.Helper()
	for _, q := range s.decoding {
		short := slices.ContainsFunc(s.answer.Refused, func(r blockmgr.Refusal) bool { return r.Slot == int32(q.slot) && r.Missing > 0 })
		if q.state == started && !short && !s.served(q) {
			s.t.Fatalf("request %d decodes and got no row in step %d", q.key, s.core.step)
		}
	}
	if q := s.oldest; q != nil && q.state != ended && !s.served(q) {
		s.t.Fatalf("request %d is the oldest and got no row in step %d", q.key, s.core.step)
	}
}

// served tells whether a sequence has a row in the batch just handed over.
func (s *sim) served(q *seq) bool {
	return s.handed != nil && slices.ContainsFunc(s.handed.Rows, func(r executor.Row) bool { return r.Slot == q.slot })
}

// processorsSee wants no row of a sequence with a processor in a batch while its
// newest token is not known.
func (s *sim) processorsSee(b *executor.Batch) {
	s.t.Helper()
	for _, row := range b.Rows {
		q := s.core.bySlot[row.Slot]
		if q.sampling.Processor != nil && row.Count > 0 && int(row.Start+row.Count) > len(q.ids) {
			s.t.Fatalf("request %d has a row up to position %d, and %d tokens are known", q.key, row.Start+row.Count, len(q.ids))
		}
	}
}

// atRest holds the scheduler to its promises when nothing is on the way: it waits
// for nothing but requests or a resume, and what nobody holds has room.
func (s *sim) atRest() {
	s.t.Helper()
	if s.asked != nil || len(s.moving) > 0 || len(s.running) > 0 {
		return
	}
	if n := len(s.core.byKey); n > 0 && !s.core.paused {
		s.t.Fatalf("nothing goes on, and %d requests are open", n)
	}
	if s.ledger == nil {
		return
	}
	if room := s.ledger.room(); s.core.free != room {
		s.t.Fatalf("%d blocks have room, and %d are held by nobody", s.core.free, room)
	}
}

// check holds what came out against the plain function, and wants everything given back.
func (s *sim) check() {
	s.t.Helper()
	for k, o := range s.all {
		if err := o.check(); err != nil {
			s.t.Errorf("request %d: %v", k, err)
		}
	}
	waiting, started := s.core.Load()
	if waiting+started+len(s.core.byKey) != 0 || !s.core.Quiet() {
		s.t.Errorf("%d requests wait and %d are started at the end, %d keys are left", waiting, started, len(s.core.byKey))
	}
	if len(s.core.slots) != s.config.slots {
		s.t.Errorf("%d of %d slots are free at the end", len(s.core.slots), s.config.slots)
	}
	if s.core.free != s.core.cfg.Blocks {
		s.t.Errorf("%d of %d blocks are free at the end", s.core.free, s.core.cfg.Blocks)
	}
	if s.core.host != s.config.host || s.host.Free() != s.config.host {
		s.t.Errorf("%d of %d host blocks are free at the end, the scheduler counts %d", s.host.Free(), s.config.host, s.core.host)
	}
}
