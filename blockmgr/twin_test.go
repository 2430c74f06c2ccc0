package blockmgr

import (
	"math"
	"slices"
)

// twin does what Manager does, as dumbly as can be: lists and linear searches, no
// hash, no tree, no counts. A block is an object; how many hold it is found by
// looking. What is published is known by all the tokens up to the block's end. A table
// has nil where a block was, or would be, that lies behind the window.
type twin struct {
	page     int32
	sharing  bool
	chunk    int32
	window   []int          // per group
	blocks   []int          // per group
	slots    []*twinSlot    // nil: not open
	idle     [][]*twinBlock // per group, in the order in which they fell idle
	draining []twinDrain
	done     uint64
}

type twinBlock struct {
	number int32     // the Manager's, -1: not heard yet
	text   *twinText // published as, nil: private
}

type twinText struct {
	salt   uint64
	epoch  uint32
	tokens []int32 // from the first on
}

type twinDrain struct {
	after  uint64
	group  int
	blocks []*twinBlock
}

type twinSlot struct {
	slot      Slot
	salt      uint64
	epoch     uint32
	ids       []int32
	prompt    int32
	tables    [][]*twinBlock
	left      [][]*twinBlock // per group and page: what was there and left since the last Done
	published int32          // pages
	ahead     bool           // others wait for the page behind those
	barred    bool
	private   bool
	started   bool
	unheard   bool // the executor does not know the tables
	tail      bool
	room      int32
	granted   uint64
}

func newTwin(c Config) *twin {
	t := &twin{page: int32(c.PageSize), sharing: c.Sharing, window: c.Window, chunk: math.MaxInt32, blocks: c.Blocks, slots: make([]*twinSlot, c.Slots), idle: make([][]*twinBlock, len(c.Blocks))}
	if slices.Max(c.Window) > 0 {
		t.chunk = int32(c.Chunk)
	}
	return t
}

// seen is the first page of a group that positions from p on attend to.
func (t *twin) seen(g int, p int32) int32 {
	if t.window[g] == 0 {
		return 0
	}
	return max(0, p-int32(t.window[g])+1) / t.page
}

// holders is the number of tables and drains that a block is in.
func (t *twin) holders(g int, b *twinBlock) (n int) {
	for _, s := range t.slots {
		if s != nil && slices.Contains(s.tables[g], b) {
			n++
		}
	}
	for _, d := range t.draining {
		if d.group == g && slices.Contains(d.blocks, b) {
			n++
		}
	}
	return n
}

// held is every block of a group that is in a table or a drain.
func (t *twin) held(g int) (all []*twinBlock) {
	add := func(blocks []*twinBlock) {
		for _, b := range blocks {
			if b != nil && !slices.Contains(all, b) {
				all = append(all, b)
			}
		}
	}
	for _, s := range t.slots {
		if s != nil {
			add(s.tables[g])
		}
	}
	for _, d := range t.draining {
		if d.group == g {
			add(d.blocks)
		}
	}
	return all
}

func (t *twin) room(g int) int32 { return int32(t.blocks[g] - len(t.held(g))) }

// dropped takes note that blocks may have lost their last holder, the deepest first.
func (t *twin) dropped(g int, blocks []*twinBlock) {
	for _, b := range slices.Backward(blocks) {
		if b != nil && b.text != nil && t.holders(g, b) == 0 {
			t.idle[g] = append(t.idle[g], b)
		}
	}
}

// take is a block that nobody holds: a free one, or else the longest idle.
func (t *twin) take(g int) *twinBlock {
	if len(t.held(g))+len(t.idle[g]) == t.blocks[g] {
		t.idle[g][0].text = nil
		t.idle[g] = t.idle[g][1:]
	}
	return &twinBlock{number: -1}
}

// find is the block of a group that is published as a text, nil: none.
func (t *twin) find(g int, s *twinSlot, pages int32) *twinBlock {
	for _, b := range append(t.held(g), t.idle[g]...) {
		if b.text != nil && b.text.salt == s.salt && b.text.epoch == s.epoch && slices.Equal(b.text.tokens, s.ids[:pages*t.page]) {
			return b
		}
	}
	return nil
}

func (t *twin) pagesOf(tokens int32) int32 { return (tokens + t.page - 1) / t.page }

// missing is how many blocks of a group s lacks for n tokens.
func (t *twin) missing(s *twinSlot, g int, n int32) int32 {
	most := max(0, t.pagesOf(n)-int32(len(s.tables[g])))
	if s.tail && t.holders(g, s.tables[g][len(s.tables[g])-1]) > 1 {
		most++
	}
	return most
}

func (t *twin) open(slot Slot, ids []int32, salt uint64) *twinSlot {
	s := &twinSlot{slot: slot, salt: salt, ids: slices.Clone(ids), prompt: int32(len(ids)), tables: make([][]*twinBlock, len(t.blocks)), left: make([][]*twinBlock, len(t.blocks))}
	t.slots[slot] = s
	return s
}

func (t *twin) fork(f Fork) {
	p := t.slots[f.Parent]
	s := t.open(f.Slot, f.IDs, p.salt)
	s.started, s.unheard, s.room, s.epoch, s.private, s.barred = true, true, p.room, p.epoch, p.private, p.barred
	s.tail = s.prompt%t.page != 0
	s.published = min(p.published, s.prompt/t.page)
	for g := range t.blocks {
		s.tables[g] = slices.Clone(p.tables[g][:t.pagesOf(s.prompt)])
	}
}

// report is a Done.
func (t *twin) report(d Done) {
	s := t.slots[d.Slot]
	if s == nil {
		return
	}
	if t.sharing {
		t.publish(s, d)
	}
	clear(s.left)
	t.recede(s, d.Written, 0)
}

// recede takes what lies behind the window of position p out of the tables, when step
// after is done.
func (t *twin) recede(s *twinSlot, p int32, after uint64) {
	for g, table := range s.tables {
		for i := range t.seen(g, p) {
			b := table[i]
			if b == nil {
				continue
			}
			if table[i] = nil; after <= t.done {
				t.dropped(g, []*twinBlock{b})
				continue
			}
			t.draining = append(t.draining, twinDrain{after, g, []*twinBlock{b}})
			if s.left[g] == nil {
				s.left[g] = make([]*twinBlock, len(table))
			}
			s.left[g][i] = b
		}
	}
}

// at is the block of a page in a group, or the one that just left, nil: none.
func (s *twinSlot) at(g int, page int32) *twinBlock {
	if b := s.tables[g][page]; b != nil || s.left[g] == nil {
		return b
	}
	return s.left[g][page]
}

// publish lets others find the pages that are full now.
func (t *twin) publish(s *twinSlot, d Done) {
	s.ids = append(s.ids, d.IDs...)
	if s.epoch != d.Epoch {
		s.barred, s.ahead = true, false
	}
	if s.private || s.barred || d.Written/t.page <= s.published {
		return
	}
	for ; s.published < d.Written/t.page; s.published++ {
		for g := range t.blocks {
			if b := s.at(g, s.published); b != nil && t.find(g, s, s.published+1) == nil {
				b.text = &twinText{s.salt, s.epoch, slices.Clone(s.ids[:(s.published+1)*t.page])}
			}
		}
	}
	t.announce(s)
}

// announce lets others wait for the page of its prompt that s computes next, unless
// they wait for somebody's already.
func (t *twin) announce(s *twinSlot) {
	s.ahead = t.sharing && !s.private && !s.barred && s.published < s.prompt/t.page && t.computing(s, s.published) == nil
}

// computing is who computes page n of s, nil: nobody.
func (t *twin) computing(s *twinSlot, n int32) *twinSlot {
	for _, o := range t.slots {
		if o != nil && o != s && o.ahead && o.published == n && o.salt == s.salt && o.epoch == s.epoch && slices.Equal(o.ids[:(n+1)*t.page], s.ids[:(n+1)*t.page]) {
			return o
		}
	}
	return nil
}

// close is a Release, or takes a victim.
func (t *twin) close(slot Slot, after uint64) {
	s := t.slots[slot]
	t.slots[slot] = nil
	for g, table := range s.tables {
		if after > t.done {
			t.draining = append(t.draining, twinDrain{after, g, table})
		} else {
			t.dropped(g, table)
		}
	}
}

// stepsDone ends the drains that waited for steps up to one.
func (t *twin) stepsDone(step uint64) {
	t.done = max(t.done, step)
	waiting := t.draining
	t.draining = nil
	for i, d := range waiting {
		if d.after > t.done {
			t.draining = append(t.draining, d)
			continue
		}
		rest := t.draining
		t.draining = append(slices.Clone(rest), waiting[i+1:]...) // those that still hold something
		t.dropped(d.group, d.blocks)
		t.draining = rest
	}
}
