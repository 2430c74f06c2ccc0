package blockmgr

import (
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"
)

// pick is a number from lo to hi: rapid's, which it can make smaller when a test
// fails, or a plain generator's.
type pick func(lo, hi int, what string) int

func drawn(r *rapid.T) pick {
	return func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(r, what) }
}

func seeded(seed uint64) pick {
	r := rand.New(rand.NewPCG(seed, 0))
	return func(lo, hi int, _ string) int { return lo + r.IntN(hi-lo+1) }
}

// caller asks what a scheduler may ask, in any order and amount, with at most two
// steps in flight. Its tokens are 0 and 1, so that many beginnings are equal.
type caller struct {
	pick       pick
	config     Config
	step, done uint64
	epoch      uint32
	slots      []called
	rows       []row // in flight, oldest first
	forks      []Fork
}

// called is a slot as the caller knows it.
type called struct {
	open    bool
	tenancy int // how often it was opened
	ids     []int32
	prompt  int32
	planned int32 // positions granted
	pending int32 // tokens that steps in flight will bring
	last    uint64
	place   int32  // in line
	hosted  bool   // planned positions lie in the host pool
	epoch   uint32 // that computed them there, 0: several
}

type row struct {
	step    uint64
	epoch   uint32
	slot    Slot
	tenancy int
	written int32
	sampled bool
}

// randomCaller has any cache, down to one block of one token. Its groups attend to
// everything or to a window.
func randomCaller(p pick) *caller {
	c := Config{PageSize: p(1, 4, "page"), Slots: p(1, 6, "slots"), Sharing: p(0, 3, "sharing") > 0}
	for range p(1, 3, "groups") {
		c.Blocks = append(c.Blocks, p(1, 14, "blocks"))
		c.Window = append(c.Window, max(0, p(-8, 8, "window")))
	}
	c.Chunk = p(1, 16, "chunk")
	return &caller{pick: p, config: c, epoch: 1, slots: make([]called, c.Slots)}
}

// some is true once in n times.
func (c *caller) some(n int, what string) bool { return c.pick(1, n, what) == n }

// ask makes the next Reserve.
func (c *caller) ask() *Reserve {
	if c.some(30, "new weights") {
		c.epoch++
		c.recompute()
	}
	r := &Reserve{Step: c.step + 1, Epoch: c.epoch, Forks: c.forks, Margin: max(0, float64(c.pick(-3, 4, "margin"))/10)}
	r.Budget = Budget{Tokens: int32(c.pick(1, 16, "tokens")), Rows: int32(c.pick(1, c.config.Slots, "rows")),
		Reads: int32(max(0, c.pick(-20, 20, "reads"))), Taken: int32(c.pick(0, 1, "taken"))}
	c.forks = nil
	c.finish(r)
	if c.done == c.step && len(r.Forks) == 0 && c.some(12, "empty") {
		c.empty(r)
	}
	for i := range c.slots {
		slot, s := Slot(i), &c.slots[i]
		if s.open && c.some(8, "release") {
			r.Release = append(r.Release, Release{Slot: slot, After: s.last})
			*s = called{tenancy: s.tenancy}
		}
		if !s.open && c.some(2, "open") {
			ids := c.text()
			*s = called{open: true, tenancy: s.tenancy + 1, ids: ids, prompt: int32(len(ids)), place: c.place()}
			if c.some(4, "from host") {
				s.planned = int32(c.pick(0, len(ids)-1, "written"))
				s.hosted, s.epoch = s.planned > 0, uint32(c.pick(0, int(c.epoch), "epoch"))
			}
			r.Open = append(r.Open, Open{Slot: slot, IDs: ids, Salt: uint64(max(0, c.pick(-4, 1, "salt"))), Private: c.some(5, "private")})
		}
	}
	c.candidates(r)
	return r
}

// recompute lets what lies in the host pool be computed again, at times.
func (c *caller) recompute() {
	for i := range c.slots {
		if s := &c.slots[i]; s.hosted && c.some(2, "recompute") {
			s.planned, s.hosted = 0, false
		}
	}
}

// empty gives up all that holds blocks, and what is published.
func (c *caller) empty(r *Reserve) {
	r.Empty = true
	for i := range c.slots {
		if s := &c.slots[i]; s.open && s.last > 0 {
			r.Release = append(r.Release, Release{Slot: Slot(i), After: s.last})
			*s = called{tenancy: s.tenancy}
		}
	}
}

// finish reports steps as done, so that at most one is left in flight.
func (c *caller) finish(r *Reserve) {
	for len(c.rows) > 0 && (c.rows[0].step < c.step || c.some(2, "step is done")) {
		c.done = c.rows[0].step
		for len(c.rows) > 0 && c.rows[0].step == c.done {
			w := c.rows[0]
			c.rows = c.rows[1:]
			s := &c.slots[w.slot]
			if s.tenancy != w.tenancy || !s.open {
				continue
			}
			d := Done{Slot: w.slot, Epoch: w.epoch, Written: w.written}
			if w.sampled {
				d.IDs = []int32{int32(c.pick(0, 1, "token"))}
				s.ids = append(s.ids, d.IDs...)
				s.pending--
			}
			r.Done = append(r.Done, d)
		}
	}
	r.DoneStep = c.done
}

// text is a prompt.
func (c *caller) text() []int32 {
	ids := make([]int32, c.pick(1, 3*c.config.PageSize+1, "prompt"))
	if c.some(2, "another text") {
		for i := range ids {
			ids[i] = int32(i / 2 % 2)
		}
	}
	for range c.pick(0, 2, "changes") {
		ids[c.pick(0, len(ids)-1, "at")] = 1
	}
	return ids
}

// candidates are some of the open slots in any order, and victims some of the started.
func (c *caller) candidates(r *Reserve) {
	first := c.pick(0, len(c.slots)-1, "first")
	for i := range c.slots {
		slot := Slot((first + i) % len(c.slots))
		s := &c.slots[slot]
		want := int32(len(s.ids)) + s.pending - s.planned
		if !s.open || want == 0 || c.some(6, "leave out") {
			continue
		}
		if s.hosted && c.some(2, "ahead of its row") {
			want = 0
		}
		r.Candidates = append(r.Candidates, Candidate{Slot: slot, Position: s.planned, Want: want, Room: s.prompt + int32(c.pick(0, 2, "room")),
			MayMatch: !c.some(6, "alone"), FromHost: s.hosted, Epoch: s.epoch, MayPreempt: (s.last > 0 || c.some(5, "urgent")) && !c.some(4, "peaceful"), Place: s.place})
	}
	for i := range c.slots {
		if s := &c.slots[i]; s.open && s.last > 0 && !c.some(4, "spare") {
			r.Victims = slices.Insert(r.Victims, c.pick(0, len(r.Victims), "cheaper"), Victim{Slot: Slot(i), Place: s.place, After: s.last})
		}
	}
}

// place is a place in line, at times that of others too: these spare each other.
func (c *caller) place() int32 { return int32(c.pick(0, 9, "place")) }

// told takes the answer.
func (c *caller) told(out *Reserved) {
	for _, p := range out.Preempted {
		s := &c.slots[p.Slot]
		*s = called{tenancy: s.tenancy}
	}
	if len(out.Grants) == 0 {
		return
	}
	c.step++
	for _, g := range out.Grants {
		s := &c.slots[g.Slot]
		s.planned, s.hosted = g.Start+g.Count, false
		if g.Count == 0 {
			s.last = c.step
			continue
		}
		c.row(g.Slot, s)
		if s.planned == s.prompt && s.last > 0 {
			c.fork(g.Slot, s)
		}
	}
}

func (c *caller) row(slot Slot, s *called) {
	sampled := s.planned == int32(len(s.ids))+s.pending
	if sampled {
		s.pending++
	}
	s.last = c.step
	c.rows = append(c.rows, row{c.step, c.epoch, slot, s.tenancy, s.planned, sampled})
}

// fork makes a closed slot a child of one whose prompt is through.
func (c *caller) fork(parent Slot, p *called) {
	for i := range c.slots {
		if s := &c.slots[i]; !s.open && c.some(3, "fork") {
			*s = called{open: true, tenancy: s.tenancy + 1, ids: slices.Clone(p.ids[:p.prompt]), prompt: p.prompt, planned: p.prompt, place: c.place()}
			c.forks = append(c.forks, Fork{Slot: Slot(i), Parent: parent, IDs: s.ids[:s.prompt:s.prompt]})
			c.row(Slot(i), s)
		}
	}
}

// leave releases everything, when all steps are done.
func (c *caller) leave() *Reserve {
	r := &Reserve{Step: c.step + 1, Epoch: c.epoch, DoneStep: c.step, Forks: c.forks}
	for i, s := range c.slots {
		if s.open {
			r.Release = append(r.Release, Release{Slot: Slot(i), After: s.last})
		}
	}
	return r
}
