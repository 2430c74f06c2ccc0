package blockmgr

// round is the state of one walk over the candidates.
type round struct {
	*Manager
	r          *Reserve
	out        *Reserved
	left       Budget
	held       int32 // blocks that a refused candidate waits for: later ones leave them alone
	promised   int32 // blocks that started sequences still need for what they were promised
	running    bool  // some sequence is started
	full       bool  // a new sequence was refused: no later one passes it
	nextVictim int
}

// grantAll walks the candidates in order.
func (m *Manager) grantAll(r *Reserve, out *Reserved) error {
	w := round{Manager: m, r: r, out: out, left: r.Budget}
	for i := range m.slots {
		if s := &m.slots[i]; s.open && s.started {
			w.promised += m.missing(s, s.room)
			w.running = true
		}
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		s, err := m.at(c.Slot)
		if err != nil {
			return err
		}
		switch {
		case !s.open, w.left.Tokens <= 0, w.left.Rows <= 0: // not open: taken as a victim for an earlier candidate
			w.refuse(c, 0)
		case w.left.Reads > 0 && c.Position > w.left.Reads && w.left.Taken > 0: // too much to read beside the others
			w.refuse(c, 0)
		case s.started:
			if err := w.goOn(s, c); err != nil {
				return err
			}
		default:
			w.start(s, c)
		}
	}
	return nil
}

// goOn serves a sequence that is started, if need be at the cost of others.
func (w *round) goOn(s *slot, c *Candidate) error {
	count := min(c.Want, w.left.Tokens)
	if c.MayPreempt {
		if err := w.takeVictims(c, s, c.Position+count); err != nil {
			return err
		}
	}
	need := w.missing(s, c.Position+count)
	if short := need - (int32(w.Manager.room()) - w.held); short > 0 {
		if c.MayPreempt {
			w.held += need
		}
		w.refuse(c, short)
		return nil
	}
	w.promised -= w.missing(s, s.room)
	w.grant(s, c, 0, count)
	w.promised += w.missing(s, s.room)
	return nil
}

// takeVictims gives others up until s can write up to n tokens, now or when the
// steps in flight end.
func (w *round) takeVictims(c *Candidate, s *slot, n int32) error {
	for w.missing(s, n) > int32(w.Manager.room())-w.held+w.drainingBlocks() && w.nextVictim < len(w.r.Victims) {
		v := w.r.Victims[w.nextVictim]
		if v.Slot == c.Slot { // only what stands before it in the order of sacrifice
			return nil
		}
		w.nextVictim++
		victim, err := w.at(v.Slot)
		if err != nil {
			return err
		}
		if !victim.open || victim.granted == w.r.Step {
			continue
		}
		w.promised -= w.missing(victim, victim.room)
		p := Preempted{Slot: v.Slot, For: c.Slot, How: v.How}
		for _, t := range victim.tables {
			p.Had = max(p.Had, int32(len(t)))
		}
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

// start lets a new sequence in: with the published beginning of its tokens, if all
// that it was to be promised fits beside what the others were.
func (w *round) start(s *slot, c *Candidate) {
	if w.full {
		w.refuse(c, 0)
		return
	}
	if s.epoch != w.r.Epoch {
		s.epoch, s.chain = w.r.Epoch, s.chain[:0]
	}
	w.found = w.found[:0]
	if w.sharing && c.MayMatch && !c.FromHost {
		most := (int32(len(s.ids)) - 1) / w.page // one token at least is left to compute
		w.match(s, most)
		if n := int32(len(w.found)); n < most {
			if on := w.computing(s, n); on >= 0 {
				w.out.Waits = append(w.out.Waits, Wait{Slot: c.Slot, On: on})
				return
			}
		}
	}
	w.adopt(s)
	matched := int32(len(w.found)) * w.page
	count := min(c.Want-matched, w.left.Tokens)
	want := w.missing(s, max(c.Room, c.Position+matched+count)) + w.promised
	if w.running {
		want += w.r.Margin
	}
	if short := want - (int32(w.Manager.room()) - w.held); short > 0 {
		w.abandon(s)
		w.full = true
		w.refuse(c, short)
		return
	}
	s.started, s.room = true, c.Room
	w.running = true
	w.grant(s, c, matched, count)
	w.promised += w.missing(s, s.room)
	w.announce(s)
}

func (w *round) refuse(c *Candidate, missing int32) {
	w.out.Refused = append(w.out.Refused, Refusal{Slot: c.Slot, Missing: missing})
}

// grant extends the tables for count tokens behind those that are there or matched.
func (w *round) grant(s *slot, c *Candidate, matched, count int32) {
	from := len(w.added)
	start := c.Position + matched
	if s.tail {
		w.ownTail(s)
	}
	for g := range w.pools {
		have := int32(len(s.tables[g]))
		fresh := matched / w.page // blocks at the end that are new to the executor
		if s.forked {
			fresh = have
		}
		for n := w.blocksFor(start+count) - have; n > 0; n-- {
			s.tables[g] = append(s.tables[g], w.take(g))
		}
		if first := have - fresh; int32(len(s.tables[g])) > first {
			w.added = append(w.added, Added{Group: int32(g), Index: first, Blocks: s.tables[g][first:]})
		}
	}
	s.granted, s.forked = w.r.Step, false
	w.left.Tokens -= count
	w.left.Rows--
	w.left.Taken++
	if w.left.Reads > 0 {
		w.left.Reads = max(1, w.left.Reads-start)
	}
	w.out.Grants = append(w.out.Grants, Grant{Slot: c.Slot, Matched: matched, Start: start, Count: count, New: w.added[from:len(w.added):len(w.added)]})
}

// list copies the tables of s.
func (w *round) list(s *slot) []Added {
	from := len(w.added)
	for g, t := range s.tables {
		at := len(w.blocks)
		w.blocks = append(w.blocks, t...)
		w.added = append(w.added, Added{Group: int32(g), Blocks: w.blocks[at:len(w.blocks):len(w.blocks)]})
	}
	return w.added[from:len(w.added):len(w.added)]
}

// take is a free block of a group, an idle one when there is none. There must be room.
func (m *Manager) take(g int) int32 {
	p := &m.pools[g]
	if len(p.free) == 0 {
		m.evict(g)
	}
	last := len(p.free) - 1
	b := p.free[last]
	p.free = p.free[:last]
	p.refs[b] = 1
	return b
}

// drainingBlocks is what will have room in every group when the steps in flight end.
func (m *Manager) drainingBlocks() int32 {
	least := int32(-1)
	for g := range m.pools {
		n := int32(0)
		for _, d := range m.draining {
			if d.group != int32(g) {
				continue
			}
			for _, b := range d.blocks {
				if m.pools[g].refs[b] == 1 {
					n++
				}
			}
		}
		if least < 0 || n < least {
			least = n
		}
	}
	return least
}
