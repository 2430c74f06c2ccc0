package blockmgr

import "slices"

// reserve is Manager.Reserve.
func (t *twin) reserve(r *Reserve) *Reserved {
	for _, f := range r.Forks {
		t.fork(f)
	}
	for _, d := range r.Done {
		t.report(d)
	}
	t.stepsDone(r.DoneStep)
	for _, rel := range r.Release {
		t.close(rel.Slot, rel.After)
	}
	if r.Empty {
		clear(t.idle)
	}
	for _, o := range r.Open {
		t.open(o.Slot, o.IDs, o.Salt).private = o.Private
	}
	w := twinRound{twin: t, r: r, out: &Reserved{Step: r.Step}, left: r.Budget, kept: make([]int32, len(t.blocks))}
	for _, c := range r.Candidates {
		switch s := t.slots[c.Slot]; {
		case s == nil:
			w.refuse(c, 0)
		case c.Want > 0 && w.usedUp(c.Position):
			if !s.started {
				w.full = true
			}
			w.refuse(c, 0)
		case s.started:
			w.goOn(s, c)
		default:
			w.start(s, c)
		}
	}
	w.out.Free = 1 << 30
	for g := range t.blocks {
		w.out.Free = min(w.out.Free, int(t.room(g)))
	}
	return w.out
}

// twinRound is the walk over the candidates.
type twinRound struct {
	*twin
	r    *Reserve
	out  *Reserved
	left Budget
	kept []int32 // per group: blocks that a refused candidate waits for
	full bool
}

func (w *twinRound) refuse(c Candidate, missing int32) {
	w.out.Refused = append(w.out.Refused, Refusal{c.Slot, missing})
}

// usedUp tells that the step has no tokens or rows left, or reads too much for a row from
// a position on. Its first row goes whatever it reads.
func (w *twinRound) usedUp(start int32) bool {
	return w.left.Tokens == 0 || w.left.Rows == 0 || w.r.Budget.Reads != 0 && w.left.Taken > 0 && start > max(0, w.left.Reads)
}

// goOn serves a started sequence, at the cost of victims if it may.
func (w *twinRound) goOn(s *twinSlot, c Candidate) {
	w.recede(s, c.Position, w.r.Step-1)
	count := min(c.Want, w.left.Tokens, w.chunk)
	lacks := func(later bool) (most int32) { // in the group where it lacks most
		for g := range w.blocks {
			short := w.missing(s, g, c.Position+count) + w.kept[g] - w.room(g)
			if later {
				short -= w.toCome(g)
			}
			most = max(most, short)
		}
		return most
	}
	w.victims(c, lacks)
	if short := lacks(false); short > 0 {
		w.refuse(c, short)
		for g := range w.blocks {
			if c.MayPreempt {
				w.kept[g] += w.missing(s, g, c.Position+count)
			}
		}
		return
	}
	w.grant(s, c, 0, count)
}

// victims gives others up for c, as long as it lacks blocks.
func (w *twinRound) victims(c Candidate, lacks func(later bool) int32) {
	for _, v := range w.r.Victims {
		if !c.MayPreempt || lacks(true) <= 0 {
			return
		}
		if o := w.slots[v.Slot]; o != nil && o.granted != w.r.Step && v.Place > c.Place {
			had := int32(0)
			for _, table := range o.tables {
				had = max(had, owned(table))
			}
			w.close(v.Slot, v.After)
			w.out.Preempted = append(w.out.Preempted, Preempted{Slot: v.Slot, For: c.Slot, How: v.How, Had: had})
		}
	}
}

// toCome is how many blocks of a group will have room when all drains end.
func (w *twinRound) toCome(g int) (n int32) {
	for _, b := range w.held(g) {
		drains := 0
		for _, d := range w.draining {
			if d.group == g && slices.Contains(d.blocks, b) {
				drains++
			}
		}
		if drains > 0 && drains == w.holders(g, b) {
			n++
		}
	}
	return n
}

// promised is what started sequences still need of a group for the room they were promised.
func (w *twinRound) promised(g int) (n int32) {
	for _, s := range w.slots {
		if s != nil && s.started {
			n += w.willMiss(s, g, s.room)
		}
	}
	return n
}

// willMiss is how many blocks of a group s will have more at most on its way to n tokens:
// a table with a window holds no more than the window and a chunk can touch.
func (w *twinRound) willMiss(s *twinSlot, g int, n int32) int32 {
	most := w.missing(s, g, n)
	if w.window[g] > 0 {
		most = min(most, max(0, int32(TableBound(w.window[g], int(w.chunk), int(w.page)))-owned(s.tables[g])))
	}
	return most
}

// owned is the number of blocks in a table.
func owned(table []*twinBlock) (n int32) {
	for _, b := range table {
		if b != nil {
			n++
		}
	}
	return n
}

// start lets a new sequence in, with the longest published beginning of its tokens. One
// that may take victims heeds nobody's promises.
func (w *twinRound) start(s *twinSlot, c Candidate) {
	if w.full && !c.MayPreempt {
		w.refuse(c, 0)
		return
	}
	s.epoch = w.r.Epoch
	if c.FromHost {
		s.epoch = c.Epoch
	}
	found := int32(0)
	if w.sharing && c.MayMatch && !c.FromHost {
		most := (s.prompt - 1) / w.page
		for n := int32(1); n <= most && w.known(s, n); n++ {
			if w.complete(s, n) {
				found = n
			}
		}
		if found < most {
			if on := w.computing(s, found); on != nil {
				w.out.Waits = append(w.out.Waits, Wait{c.Slot, on.slot})
				return
			}
		}
	}
	if c.Want > 0 && w.usedUp(c.Position+found*w.page) {
		w.full = true
		w.refuse(c, 0)
		return
	}
	position := c.Position + found*w.page
	for g := range w.blocks {
		s.tables[g] = make([]*twinBlock, w.seen(g, position))
	}
	for page := range found {
		for g := range w.blocks {
			if page < w.seen(g, position) {
				continue
			}
			b := w.find(g, s, page+1)
			w.idle[g] = slices.DeleteFunc(w.idle[g], func(o *twinBlock) bool { return o == b })
			s.tables[g] = append(s.tables[g], b)
		}
	}
	count := min(c.Want-found*w.page, w.left.Tokens, w.chunk)
	lacks := func(later bool) (most int32) {
		for g := range w.blocks {
			want := max(w.missing(s, g, position+count), w.willMiss(s, g, c.Room))
			if !c.MayPreempt {
				want += w.promised(g)
				if slices.ContainsFunc(w.slots, func(o *twinSlot) bool { return o != nil && o.started }) {
					want += int32(w.r.Margin * float64(w.blocks[g]))
				}
			}
			if later {
				want -= w.toCome(g)
			}
			most = max(most, want+w.kept[g]-w.room(g))
		}
		return most
	}
	w.victims(c, lacks)
	if short := lacks(false); short > 0 {
		for g, table := range s.tables { // what it found counts as just used
			s.tables[g] = nil
			w.dropped(g, table)
		}
		w.full = true
		w.refuse(c, short)
		return
	}
	s.started, s.unheard, s.room, s.published = true, true, c.Room, found
	w.grant(s, c, found*w.page, count)
	w.announce(s)
}

// known tells whether anything is published of the first n pages of s, or of what begins
// with them, or a sequence that runs published them itself.
func (t *twin) known(s *twinSlot, n int32) bool {
	begins := func(salt uint64, epoch uint32, tokens []int32) bool {
		return salt == s.salt && epoch == s.epoch && len(tokens) >= int(n*t.page) && slices.Equal(tokens[:n*t.page], s.ids[:n*t.page])
	}
	for g := range t.blocks {
		for _, b := range append(t.held(g), t.idle[g]...) {
			if b.text != nil && begins(b.text.salt, b.text.epoch, b.text.tokens) {
				return true
			}
		}
	}
	return slices.ContainsFunc(t.slots, func(o *twinSlot) bool {
		return o != nil && begins(o.salt, o.epoch, o.ids[:o.published*t.page])
	})
}

// complete tells whether every group has those of the first n pages of s that what comes
// behind them attends to.
func (t *twin) complete(s *twinSlot, n int32) bool {
	for g := range t.blocks {
		for page := t.seen(g, n*t.page); page < n; page++ {
			if t.find(g, s, page+1) == nil {
				return false
			}
		}
	}
	return true
}

// grant gives s the blocks for count tokens behind those that were found.
func (w *twinRound) grant(s *twinSlot, c Candidate, matched, count int32) {
	start := c.Position + matched
	g := Grant{Slot: c.Slot, Matched: matched, Start: start, Count: count}
	if s.tail {
		w.ownTail(s)
	}
	for i := range w.blocks {
		first := int32(len(s.tables[i]))
		if s.unheard {
			first -= owned(s.tables[i])
		}
		for int32(len(s.tables[i])) < w.pagesOf(start+count) {
			s.tables[i] = append(s.tables[i], w.take(i))
		}
		if n := int32(len(s.tables[i])) - first; n > 0 {
			g.New = append(g.New, Added{Group: int32(i), Index: first, Blocks: make([]int32, n)})
		}
	}
	s.unheard, s.granted = false, w.r.Step
	if count > 0 {
		w.left.Tokens -= count
		w.left.Rows--
		w.left.Taken++
		w.left.Reads -= start
	}
	w.out.Grants = append(w.out.Grants, g)
}

// ownTail copies the last block where another holds it too. A block that s takes
// over alone is not what it was published as, once s writes there.
func (w *twinRound) ownTail(s *twinSlot) {
	s.tail = false
	for g, table := range s.tables {
		last := table[len(table)-1]
		if w.holders(g, last) == 1 {
			last.text = nil
			continue
		}
		table[len(table)-1] = w.take(g)
		w.draining = append(w.draining, twinDrain{w.r.Step, g, []*twinBlock{last}})
		w.out.Copies = append(w.out.Copies, Copy{Slot: s.slot, Group: int32(g), From: last.number})
	}
}
