package blockmgr

import (
	"fmt"
	"math"
)

// round is the state of one walk over the candidates.
type round struct {
	*Manager
	r      *Reserve
	out    *Reserved
	left   Budget
	full   bool  // no new sequence starts: one was refused, and no later one passes it, or one has the memory for itself
	barren int32 // nobody behind this place in line is left to be given up
}

// grantAll walks the candidates in order.
func (m *Manager) grantAll(r *Reserve, out *Reserved) error {
	w := round{Manager: m, r: r, out: out, left: r.Budget, barren: math.MaxInt32}
	clear(m.held)
	for i := range m.slots {
		if s := &m.slots[i]; s.open && s.started {
			w.full = w.full || s.solo
		}
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		s, err := m.at(c.Slot)
		if err != nil {
			return err
		}
		switch {
		case !s.open: // taken as a victim for an earlier candidate
			w.refuse(c, 0)
		case c.Want < 0, c.Want == 0 && !c.FromHost:
			return fmt.Errorf("%w: slot %d wants %d tokens", ErrProtocol, c.Slot, c.Want)
		case c.Want > 0 && w.left.lacks(c.Position):
			w.outOfBudget(s, c)
		case s.started:
			if err := w.goOn(s, c); err != nil {
				return err
			}
		default:
			if err := w.start(s, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// promises counts what is left alone for the sequences that are started: the blocks
// that they lack for the room they were promised, and the margin for their growth.
func (w *round) promises() (running bool) {
	clear(w.promised)
	for i := range w.slots {
		s := &w.slots[i]
		if !s.open || !s.started {
			continue
		}
		running = true
		for g := range w.promised {
			w.promised[g] += w.willLack(s, g, s.room)
		}
	}
	if running {
		for g := range w.promised {
			w.promised[g] += int32(w.r.Margin * float64(w.total[g]))
		}
	}
	return running
}

// ask is what s needs to write up to n tokens, beside what others wait for.
func (w *round) ask(s *slot, n int32) []int32 {
	for g := range w.need {
		w.need[g] = w.lacks(s, g, n) + w.held[g]
	}
	return w.need
}

// wants is what s needs to write up to n tokens, and if it is not started for all that
// it is promised then, beside what others wait for and were promised.
func (w *round) wants(s *slot, c *Candidate, n int32) []int32 {
	want := w.ask(s, n)
	if !s.started {
		for g := range want {
			want[g] = max(want[g], w.willLack(s, g, c.Room)+w.held[g]) + w.promised[g]
		}
	}
	return want
}

// goOn serves a sequence that is started, if need be at the cost of others.
func (w *round) goOn(s *slot, c *Candidate) error {
	w.recede(s, c.Position, w.r.Step-1)
	count := min(c.Want, w.left.Tokens, w.chunk)
	n := c.Position + count
	fits := w.fits(w.ask(s, n), w.now())
	if !fits && c.MayPreempt {
		if err := w.takeVictims(c, s, n); err != nil {
			return err
		}
		fits = w.fits(w.ask(s, n), w.now())
	}
	switch {
	case fits:
		w.grant(s, c, 0, count)
	case w.stuck(s):
		return w.giveItselfUp(s)
	default:
		w.refuse(c, w.short(w.need))
		if c.MayPreempt {
			copy(w.held, w.need)
		}
	}
	return nil
}

// takeVictims gives others up until s can write up to n tokens, now or when the
// steps in flight end.
func (w *round) takeVictims(c *Candidate, s *slot, n int32) error {
	for !w.fits(w.wants(s, c, n), w.later()) {
		v, err := w.victimBehind(c)
		if v == nil || err != nil {
			return err
		}
		victim := &w.slots[v.Slot]
		p := Preempted{Slot: v.Slot, For: c.Slot, How: v.How, Had: victim.longest()}
		if v.How == ToHost {
			p.Blocks = w.list(victim)
		}
		if err := w.close(v.Slot, v.After); err != nil {
			return err
		}
		w.out.Preempted = append(w.out.Preempted, p)
	}
	return nil
}

// victimBehind is the first in the order of sacrifice that stands behind c in line and
// is granted nothing in this step, nil: there is none.
func (w *round) victimBehind(c *Candidate) (*Victim, error) {
	if c.Place >= w.barren {
		return nil, nil
	}
	for i := range w.r.Victims {
		v := &w.r.Victims[i]
		if v.Place <= c.Place || v.Slot == c.Slot {
			continue
		}
		s, err := w.at(v.Slot)
		if err != nil {
			return nil, err
		}
		if s.open && s.granted != w.r.Step {
			return v, nil
		}
	}
	w.barren = c.Place
	return nil, nil
}

// start lets a new sequence in: with the published beginning of its tokens, if all
// that it was to be promised fits beside what the others were.
func (w *round) start(s *slot, c *Candidate) error {
	if w.full && !c.MayPreempt {
		w.refuse(c, 0)
		return nil
	}
	if w.clean {
		w.empty()
	}
	if on := w.beginning(s, c); on >= 0 {
		w.out.Waits = append(w.out.Waits, Wait{Slot: c.Slot, On: on})
		return nil
	}
	matched := int32(len(w.found)) * w.page
	if matched > 0 && w.left.lacks(matched) {
		w.outOfBudget(s, c)
		return nil
	}
	position := c.Position + matched
	for g := range s.base {
		s.base[g] = w.first(g, position)
	}
	w.adopt(s)
	count := min(c.Want-matched, w.left.Tokens, w.chunk)
	running := w.promises()
	if c.MayPreempt {
		clear(w.promised) // who was promised something may be given up
		if err := w.takeVictims(c, s, position+count); err != nil {
			return err
		}
	}
	if want := w.wants(s, c, position+count); !w.fits(want, w.now()) {
		short := w.short(want)
		w.abandon(s)
		if w.sectors != nil && matched > 0 && !running && !w.clean { // what it found may lie in its way
			w.clean = true
			return w.start(s, c)
		}
		w.refuse(c, short)
		w.full = true
		return nil
	}
	s.started, s.room, s.solo = true, c.Room, w.clean
	w.full, w.clean = w.full || w.clean, false
	w.grant(s, c, matched, count)
	w.announce(s)
	return nil
}

// beginning finds the published beginning of s, as far as it may be taken, or says
// which slot is computing the next page of it; -1: none. What comes from the host
// pool belongs to the epoch that computed it.
func (w *round) beginning(s *slot, c *Candidate) (on Slot) {
	epoch := w.r.Epoch
	if c.FromHost {
		epoch = c.Epoch
	}
	if s.epoch != epoch {
		s.epoch, s.chain = epoch, s.chain[:0]
	}
	w.found = w.found[:0]
	if !w.sharing || !c.MayMatch || c.FromHost {
		return -1
	}
	most := (int32(len(s.ids)) - 1) / w.page // one token at least is left to compute
	w.match(s, most)
	if n := int32(len(w.found)); n < most {
		return w.computing(s, n)
	}
	return -1
}

// outOfBudget refuses c a row in this step. If it is not started nobody behind it starts:
// one that needs less of the budget, or none, would pass it for as long as that runs.
func (w *round) outOfBudget(s *slot, c *Candidate) {
	w.full = w.full || !s.started
	w.refuse(c, 0)
}

func (w *round) refuse(c *Candidate, missing int32) {
	w.out.Refused = append(w.out.Refused, Refusal{Slot: c.Slot, Missing: missing})
}

// grant extends the tables for count tokens behind those that are there or matched.
func (w *round) grant(s *slot, c *Candidate, matched, count int32) {
	from := len(w.added)
	start := c.Position + matched
	for g := range w.need {
		w.need[g] = w.lacks(s, g, start+count)
	}
	w.secure(w.need)
	if s.tail {
		w.ownTail(s)
	}
	for g := range w.pools {
		first := s.end(g) // that is new to the executor
		for n := w.blocksFor(start+count) - first; n > 0; n-- {
			s.tables[g] = append(s.tables[g], w.take(g))
		}
		if matched > 0 || s.forked {
			first = s.base[g]
		}
		if s.end(g) > first {
			w.added = append(w.added, Added{Group: int32(g), Index: first, Blocks: s.tables[g][first-s.base[g]:]})
		}
	}
	s.granted, s.forked = w.r.Step, false
	if count > 0 {
		w.left.use(start, count)
	}
	w.out.Grants = append(w.out.Grants, Grant{Slot: c.Slot, Matched: matched, Start: start, Count: count, New: w.added[from:len(w.added):len(w.added)]})
}

// list copies the tables of s.
func (w *round) list(s *slot) []Added {
	from := len(w.added)
	for g, t := range s.tables {
		at := len(w.blocks)
		w.blocks = append(w.blocks, t...)
		w.added = append(w.added, Added{Group: int32(g), Index: s.base[g], Blocks: w.blocks[at:len(w.blocks):len(w.blocks)]})
	}
	return w.added[from:len(w.added):len(w.added)]
}

// take is a free block of a group, the idle one that was used least recently when
// there is none. Pages deeper in the tree went idle before those they follow, so
// what is evicted leads nowhere. There must be room.
func (m *Manager) take(g int) int32 {
	b := m.pools[g].take()
	m.unpublish(g, b)
	return b
}
