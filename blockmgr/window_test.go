package blockmgr

import (
	"math"
	"slices"
	"testing"
)

// mixed is a cache of a full group and one with a window, pages of 4.
func mixed(window int) Config {
	return Config{PageSize: 4, Blocks: []int{32, 32}, Window: []int{0, window}, Chunk: 16, Slots: 4, Sharing: true}
}

// group is what a grant adds in group g.
func (g *Grant) group(n int32) Added {
	for _, a := range g.New {
		if a.Group == n {
			return Added{Group: n, Index: a.Index, Blocks: slices.Clone(a.Blocks)}
		}
	}
	return Added{Group: n}
}

// A block leaves the table when the step after which nobody attends to it is done,
// not before: with a window of 6, position 13 attends to 8 and later, blocks 2 and on.
func TestBlocksBehindTheWindowAreReleased(t *testing.T) {
	c := mixed(6)
	c.Sharing = false
	b := &books{t: t, Manager: New(c)}
	b.reserve(Reserve{Step: 1, Open: open(0), Candidates: []Candidate{{Slot: 0, Want: 13, Room: 20}}})
	if n := len(b.slots[0].tables[1]); n != 4 {
		t.Fatalf("while 13 tokens are computed the table has %d blocks", n)
	}
	out := b.reserve(Reserve{Step: 2, DoneStep: 1, Done: []Done{{Slot: 0, Written: 13}}})
	if s := &b.slots[0]; s.base[1] != 2 || len(s.tables[1]) != 2 || len(s.tables[0]) != 4 {
		t.Errorf("sliding table %v from %d on, full table %v", s.tables[1], s.base[1], s.tables[0])
	}
	if free := b.pools[1].free.count; free != 30 || out.Free != 28 {
		t.Errorf("%d sliding blocks are free, %d of both", free, out.Free)
	}
	out = b.reserve(Reserve{Step: 2, Candidates: []Candidate{{Slot: 0, Position: 13, Want: 4}}})
	if a := out.Grants[0].group(1); a.Index != 4 || len(a.Blocks) != 1 {
		t.Errorf("the table grows by %+v, want block 4: indexes are counted from the first position", a)
	}
}

// With a step in flight, what only that step reads has left the table, but drains.
func TestWhatAStepReadsDrains(t *testing.T) {
	c := mixed(4)
	b := &books{t: t, Manager: New(c)}
	b.reserve(Reserve{Step: 1, Open: []Open{{Slot: 0, IDs: textOf(1, 33)}}, Candidates: []Candidate{{Slot: 0, Want: 16, Room: 33}}})
	b.reserve(Reserve{Step: 2, Candidates: []Candidate{{Slot: 0, Position: 16, Want: 16}}})
	if s := &b.slots[0]; s.base[1] != 3 || len(b.draining) != 3 || b.pools[1].room() != 24 {
		t.Fatalf("table from %d on, %d draining, %d to be had", s.base[1], len(b.draining), b.pools[1].room())
	}
	// Step 1 wrote them and is done: they are published all the same.
	b.reserve(Reserve{Step: 3, DoneStep: 1, Done: []Done{{Slot: 0, Written: 16}}})
	if b.pools[1].idle.count != 3 || b.pools[1].room() != 27 {
		t.Errorf("%d idle, %d to be had, want the 3 pages of step 1 idle", b.pools[1].idle.count, b.pools[1].room())
	}
}

// A beginning matches when the full group has all of it and the sliding group the
// last window: only those blocks are taken.
func TestMixedMatchTakesTheWindow(t *testing.T) {
	b := &books{t: t, Manager: New(mixed(6))}
	b.prefill(1, 0, 0, textOf(1, 16))
	b.reserve(Reserve{Step: 3, DoneStep: 2, Release: []Release{{Slot: 0, After: 1}}})
	out := b.reserve(Reserve{Step: 3, Open: []Open{{Slot: 1, IDs: append(textOf(1, 12), textOf(2, 3)...)}}, Candidates: []Candidate{{Slot: 1, Want: 15, Room: 16, MayMatch: true}}})
	g := out.Grants[0]
	if g.Matched != 12 {
		t.Fatalf("%+v, want 12 matched", g)
	}
	if full, sliding := g.group(0), g.group(1); full.Index != 0 || len(full.Blocks) != 4 || sliding.Index != 1 || len(sliding.Blocks) != 3 {
		t.Errorf("full %+v, sliding %+v; position 12 attends to 7 and later: blocks 1 to 3", full, sliding)
	}
}

// When the window before the end is gone, an earlier end that has its window matches;
// without the blocks of the full group nothing does.
func TestMixedMatchNeedsEveryGroup(t *testing.T) {
	for _, c := range []struct {
		group   int
		page    int32
		matched int32
	}{
		{1, 0, 12}, // behind the window: of no account
		{1, 2, 8},
		{1, 1, 4}, // first(12) and first(8) lead to block 1, as does 4's own
		{0, 2, 8}, {0, 0, 0},
	} {
		b := &books{t: t, Manager: New(mixed(6))}
		b.prefill(1, 0, 0, textOf(1, 16))
		n := b.slots[0].path[c.page]
		b.reserve(Reserve{Step: 3, DoneStep: 2, Release: []Release{{Slot: 0, After: 1}}})
		block := n.blocks[c.group]
		b.pools[c.group].idle.remove(block)
		b.unpublish(c.group, block)
		b.pools[c.group].free.push(block)
		if g := b.prefill(3, 1, 0, append(textOf(1, 12), 7)); g.Matched != c.matched {
			t.Errorf("without page %d of group %d: matched %d, want %d", c.page, c.group, g.Matched, c.matched)
		}
	}
}

// A fork holds the window of its parent, and copies the last block of each group.
func TestForksShareTheWindow(t *testing.T) {
	b := &books{t: t, Manager: New(mixed(6))}
	b.reserve(Reserve{Step: 1, Open: []Open{{Slot: 0, IDs: textOf(1, 14)}}, Candidates: []Candidate{{Slot: 0, Want: 14, Room: 15}}})
	done := []Done{{Slot: 0, Written: 14, IDs: []int32{7}}, {Slot: 1, Written: 14, IDs: []int32{8}}}
	out := b.reserve(Reserve{Step: 2, DoneStep: 1, Forks: []Fork{{Slot: 1, Parent: 0, IDs: textOf(1, 14)}}, Done: done,
		Candidates: []Candidate{{Slot: 0, Position: 14, Want: 1}, {Slot: 1, Position: 14, Want: 1}}})
	if len(out.Grants) != 2 || len(out.Copies) != 2 || out.Copies[0].Group == out.Copies[1].Group {
		t.Fatalf("grants %+v, copies %+v, want a copy in each group", out.Grants, out.Copies)
	}
	parent, child := &b.slots[0], &b.slots[1]
	if a := out.Grants[1].group(1); a.Index != 2 || len(a.Blocks) != 2 {
		t.Errorf("the child gets %+v, want the two blocks from index 2 on", a)
	}
	if parent.tables[1][0] != child.tables[1][0] || parent.tables[1][1] == child.tables[1][1] {
		t.Errorf("tables %v and %v, want the full block shared and the last one not", parent.tables[1], child.tables[1])
	}
}

// What leaves for the host is what the tables hold, with its place; what the window
// has left behind meanwhile is not brought back.
func TestTheHostKeepsTheWindow(t *testing.T) {
	c := mixed(6)
	c.Blocks[0] = 6
	b, h := &books{t: t, Manager: New(c)}, NewHost([]int{8, 8})
	b.reserve(Reserve{Step: 1, Open: open(0, 1), Candidates: []Candidate{{Slot: 0, Want: 14, Room: 20}}})
	r := Reserve{Step: 2, DoneStep: 1, Done: []Done{{Slot: 0, Written: 14, IDs: textOf(1, 14)}}, Candidates: []Candidate{{Slot: 1, Want: 1, MayPreempt: true}}}
	b.reserve(r)
	r = Reserve{Step: 3, DoneStep: 2, Candidates: []Candidate{{Slot: 1, Position: 1, Want: 12, MayPreempt: true}}, Victims: []Victim{{Slot: 0, Place: 1, How: ToHost, After: 1}}}
	out := b.reserve(r)
	if len(out.Preempted) != 1 {
		t.Fatal(out)
	}
	left := out.Preempted[0].Blocks
	if len(left[0].Blocks) != 4 || left[1].Index != 2 || len(left[1].Blocks) != 2 {
		t.Fatalf("%+v leave, want 4 blocks and the 2 from index 2 on", left)
	}
	var copies Swapped
	if err := h.Swap(&Swap{Out: []Moved{{Key: 1, Blocks: left}}}, &copies); err != nil || len(copies.Copies) != 6 {
		t.Fatal(err, copies)
	}
	last := copies.Copies[5]
	// Position 18 attends to block 3 and later.
	back := []Added{{Group: 0, Blocks: []int32{1, 2, 3, 4, 5}}, {Group: 1, Index: 3, Blocks: []int32{6, 7}}}
	if err := h.Swap(&Swap{In: []Moved{{Key: 1, Blocks: back}}}, &copies); err != nil || len(copies.Copies) != 5 || h.Free() != 8 {
		t.Fatal(err, copies)
	}
	if in := copies.Copies[4]; in != (HostCopy{Group: 1, Device: 6, Host: last.Host}) {
		t.Errorf("the window comes back as %+v, left as %+v", in, last)
	}
}

func TestComingBackFromTheHostStartsAtTheWindow(t *testing.T) {
	b := &books{t: t, Manager: New(mixed(6))}
	out := b.reserve(Reserve{Step: 1, Epoch: 1, Open: []Open{{Slot: 0, IDs: textOf(1, 19)}}, Candidates: []Candidate{{Slot: 0, Position: 18, Want: 1, Room: 20, FromHost: true, Epoch: 1}}})
	if a := out.Grants[0].group(1); a.Index != 3 || len(a.Blocks) != 2 {
		t.Errorf("%+v, want the blocks from index 3 on", a)
	}
	b.reserve(Reserve{Step: 2, Epoch: 1, DoneStep: 1, Done: []Done{{Slot: 0, Epoch: 1, Written: 19}}})
	if g, s := b.pools[0].node[b.slots[0].tables[0][0]], b.slots[0].path[0]; g != s || s.blocks[1] != -1 {
		t.Errorf("page 0 is published as %+v, want the full group's block alone", s)
	}
}

// A new sequence is promised no more of a sliding group than its table can hold.
func TestPromisesAreBounded(t *testing.T) {
	c := mixed(6)
	c.Blocks[1] = 13 // a table holds ceil((6+16)/4)+1 = 7
	b := &books{t: t, Manager: New(c)}
	r := Reserve{Step: 1, Budget: Budget{Tokens: 8, Rows: 4}}
	for s := range Slot(2) {
		r.Open = append(r.Open, Open{Slot: s})
		r.Candidates = append(r.Candidates, Candidate{Slot: s, Want: 4, Room: 60})
	}
	if out := b.reserve(r); len(out.Grants) != 1 || out.Refused[0].Missing != 1 {
		t.Errorf("%+v, want the second refused for lack of 1: two tables hold 14", out)
	}
}

// The margin is a share of each group's own blocks: beside a small pool for a window a
// quarter of the full group's 40 blocks stays free, or in shared memory a quarter of what
// both groups can have.
func TestTheMarginIsOfEachGroup(t *testing.T) {
	own := Config{PageSize: 4, Blocks: []int{40, 20}, Window: []int{0, 8}, Chunk: 8, Slots: 2}
	shared := Config{PageSize: 4, Sectors: 40, PerSector: []int{1, 1}, Window: []int{0, 8}, Chunk: 8, Slots: 2}
	for _, c := range []struct {
		Config
		room int32 // of a second sequence, at most
	}{
		{own, 4 * 29},    // 40 less one of the first, less 10
		{shared, 4 * 23}, // 40 less two of the first, less 2 * 5, less 5 of a table with the window
	} {
		for over := range int32(2) {
			b := &books{t: t, Manager: New(c.Config)}
			b.reserve(Reserve{Step: 1, Open: open(0), Candidates: []Candidate{{Slot: 0, Want: 4, Room: 4}}, Margin: 0.25})
			out := b.reserve(Reserve{Step: 2, Open: open(1), Candidates: []Candidate{{Slot: 1, Want: 4, Room: c.room + over}}, Margin: 0.25})
			if len(out.Refused) != int(over) || over > 0 && out.Refused[0].Missing != 1 {
				t.Errorf("%+v: room for %d: %+v", c.Config, c.room+over, out)
			}
		}
	}
}

func TestLongest(t *testing.T) {
	for _, c := range []struct {
		Config
		want int
	}{
		{Config{PageSize: 4, Blocks: []int{8}}, 32},
		{Config{PageSize: 4, Blocks: []int{8}, Window: []int{6}, Chunk: 4}, math.MaxInt32}, // a table holds 4
		{Config{PageSize: 4, Blocks: []int{3}, Window: []int{6}, Chunk: 4}, 12},
		{Config{PageSize: 4, Blocks: []int{8, 4}, Window: []int{0, 6}, Chunk: 4}, 32},
		{Config{PageSize: 4, Blocks: []int{8, 3}, Window: []int{0, 6}, Chunk: 4}, 12},
		{Config{PageSize: 4, Sectors: 3, PerSector: []int{2}}, 24},
		{Config{PageSize: 4, Sectors: 3, PerSector: []int{2, 4}, Window: []int{0, 6}, Chunk: 4}, 16},
		{Config{PageSize: 4, Sectors: 7, PerSector: []int{2, 4}, Window: []int{0, 6}, Chunk: 4}, 24}, // 3 sectors, and one for each of 4 blocks
	} {
		if got := c.Longest(); got != c.want {
			t.Errorf("%+v: %d positions, want %d", c.Config, got, c.want)
		}
	}
}
