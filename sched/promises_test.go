package sched

import (
	"math"
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
	s.cheapestFirst(r)
	if !plans || s.config.policy == PrefillFirst || s.config.reads > 0 || s.ledger == nil {
		return
	}
	for _, q := range s.core.active {
		if q.decodes() && s.core.may(q) {
			s.decoding = append(s.decoding, q)
		}
	}
	if len(s.decoding) > 0 && s.decoding[0] == s.core.active[0] && s.core.urgent == 0 && len(s.running) == 0 {
		s.oldest = s.decoding[0]
	}
}

// cheapestFirst wants the victims in the order of what giving them up costs, as a sum
// over their pages: one that is computed again costs 1, unless it was found when the
// request started, and one that is copied costs the ratio; who ends with a step in flight
// costs nothing and is not copied. The newest are first among
// equals, and the host pool has room for all that go there.
func (s *sim) cheapestFirst(r *blockmgr.Reserve) {
	s.t.Helper()
	for _, f := range r.Forks {
		s.found[f.Slot] = 0
	}
	before, place, host := 0.0, int32(0), s.core.host
	for i, v := range r.Victims {
		q := s.core.bySlot[v.Slot]
		cost, copied := 0.0, 0.0
		for p := int32(0); p < q.planned; p += int32(s.config.page) {
			copied += s.config.copyCost
			if p >= s.found[v.Slot] {
				cost++
			}
		}
		if q.pending > 0 && len(q.ids)+int(q.pending) >= int(q.limit) || q.planned == q.limit { // ends with a step in flight
			cost, copied = 0, 0
		}
		if v.How == blockmgr.ToHost {
			if host -= int(q.blocks); host < 0 || copied >= cost {
				s.t.Fatalf("request %d goes to the host at %v beside %v, which then has room for %d blocks", q.key, copied, cost, host)
			}
			cost = copied
		}
		if i > 0 && (cost < before-1e-9 || math.Abs(cost-before) < 1e-9 && v.Place > place) {
			s.t.Fatalf("request %d is given up behind one that costs %v, and costs %v", q.key, before, cost)
		}
		before, place = cost, v.Place
	}
}

// noteFound remembers what those found that start.
func (s *sim) noteFound() {
	for _, g := range s.answer.Grants {
		if s.core.bySlot[g.Slot].state == offered {
			s.found[g.Slot] = g.Matched
		}
	}
}

// nobodyOlderGoes wants whoever is given up for another one to be behind it in line.
func (s *sim) nobodyOlderGoes() {
	s.t.Helper()
	for _, p := range s.answer.Preempted {
		if q, by := s.core.bySlot[p.Slot], s.core.bySlot[p.For]; q != by && inLine(q, by) < 0 {
			s.t.Fatalf("request %d is given up for request %d, which is younger", q.key, by.key)
		}
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

// withinReads wants the rows of a batch to read no more of the cache than they may, but
// for one of them that reads more alone.
func (s *sim) withinReads(b *executor.Batch) {
	s.t.Helper()
	reads, readers := 0, 0
	for _, row := range b.Rows {
		if row.Count > 0 && row.Start > 0 {
			reads += int(row.Start)
			readers++
		}
	}
	if most := s.config.reads; most > 0 && reads > most && readers > 1 {
		s.t.Fatalf("step %d reads %d positions in %d rows", b.Step, reads, readers)
	}
}

// everyoneOnce wants every sequence that is open to be in the one list that its state
// says, or unborn, and nobody else in any.
func (s *sim) everyoneOnce() {
	s.t.Helper()
	listed := 0
	for i, list := range [][]*seq{s.core.queue, s.core.active, s.core.leaving} {
		for _, q := range list {
			if s.core.byKey[q.key] != q || i != [...]int{waiting: 0, offered: 0, started: 1, leaving: 2, unborn: -1, ended: -1}[q.state] {
				s.t.Fatalf("request %d is in list %d in state %d", q.key, i, q.state)
			}
		}
		listed += len(list)
	}
	for _, q := range s.core.byKey {
		if q.state == unborn {
			listed++
		}
	}
	if listed != len(s.core.byKey) {
		s.t.Fatalf("%d requests are open, and lists have %d", len(s.core.byKey), listed)
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
	if n := len(s.core.byKey); n > 0 && s.core.gate == running {
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
