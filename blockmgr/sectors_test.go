package blockmgr

import "testing"

// shared is a cache of two groups whose blocks are of different sizes: a sector
// holds 2 blocks of the first or 4 of the second.
func shared(sectors int) Config {
	return Config{PageSize: 4, Sectors: sectors, PerSector: []int{2, 4}, Slots: 4, Sharing: true}
}

// What every group can have is told, not what one of them could: 3 sectors are 2
// blocks of the first for one of the second and no more.
func TestFreeIsWhatAllGroupsCanHave(t *testing.T) {
	for _, c := range []struct{ sectors, free int }{{1, 0}, {2, 2}, {3, 4}, {4, 4}, {6, 8}} {
		if got := New(shared(c.sectors)).free(); got != c.free {
			t.Errorf("%d sectors: %d blocks of both, want %d", c.sectors, got, c.free)
		}
	}
	own := Config{PageSize: 4, Blocks: []int{7, 5}, Slots: 1}
	if n := New(own).free(); n != 5 {
		t.Errorf("%d blocks of both, want 5", n)
	}
}

// A group opens a sector when it has no block left, and gives it back with the last
// block of it; then another group may have it.
func TestSectorsGoFromGroupToGroup(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 4, Sectors: 3, PerSector: []int{1, 3}, Slots: 2})}
	out := b.reserve(Reserve{Step: 1, Open: open(0), Candidates: []Candidate{{Slot: 0, Want: 8}}})
	if len(out.Grants) != 1 || len(b.sectors.free) != 0 {
		t.Fatalf("%+v, sectors of nobody: %v; two blocks of both groups are three sectors", out, b.sectors.free)
	}
	out = b.reserve(Reserve{Step: 2, Candidates: []Candidate{{Slot: 0, Position: 8, Want: 1}}})
	if len(out.Refused) != 1 || out.Refused[0].Missing != 1 {
		t.Fatalf("%+v: the first group has no third block", out)
	}
	out = b.reserve(Reserve{Step: 2, DoneStep: 1, Release: []Release{{Slot: 0, After: 1}}})
	if len(b.sectors.free) != 3 || out.Free != 2 {
		t.Errorf("after the end: sectors of nobody %v, %d free", b.sectors.free, out.Free)
	}
}

// Idle blocks keep a sector with its group only until another one needs it: then the
// sector with the fewest of them goes, and a sector with a block in use never does.
func TestIdleSectorsAreGivenUp(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 4, Sectors: 6, PerSector: []int{2, 2}, Slots: 4, Sharing: true})}
	b.prefill(1, 0, 0, textOf(1, 9)) // 3 blocks, 2 sectors of each group
	out := b.reserve(Reserve{Step: 2, DoneStep: 1, Release: []Release{{Slot: 0, After: 1}}})
	if got := []int32{b.pools[0].idle.count, b.pools[1].idle.count, int32(len(b.sectors.free))}; got[0] != 2 || got[1] != 2 || out.Free != 6 {
		t.Fatalf("idle %v, %d blocks to be had, want 2 idle in each and 6", got, out.Free)
	}
	out = b.reserve(Reserve{Step: 3, DoneStep: 2, Open: []Open{{Slot: 1, IDs: textOf(2, 24)}}, Candidates: []Candidate{{Slot: 1, Want: 24, Room: 24}}})
	if len(out.Grants) != 1 || out.Free != 0 {
		t.Fatalf("%+v: all six blocks of both groups can be had", out)
	}
	if b.pools[0].idle.count+b.pools[1].idle.count != 0 || len(b.tree.index) != 0 {
		t.Errorf("%d pages are still found in sectors that others write to", len(b.tree.index))
	}
}

// A victim's sectors are counted for another group as soon as its blocks drain, so
// that no second victim is taken.
func TestDrainingSectorsCount(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 1, Sectors: 6, PerSector: []int{1, 2}, Slots: 3})}
	r := Reserve{Step: 1}
	for s := range Slot(2) {
		r.Open = append(r.Open, Open{Slot: s})
		r.Candidates = append(r.Candidates, Candidate{Slot: s, Want: 2})
	}
	if out := b.reserve(r); len(out.Grants) != 2 || out.Free != 0 {
		t.Fatal(out)
	}
	grow := []Candidate{{Slot: 0, Position: 2, Want: 1, MayPreempt: true}}
	victims := []Victim{{Slot: 1, Place: 1, After: 1}}
	out := b.reserve(Reserve{Step: 2, Candidates: grow, Victims: victims})
	if len(out.Preempted) != 1 || len(out.Grants) != 0 {
		t.Fatalf("while step 1 runs: %+v", out)
	}
	if out := b.reserve(Reserve{Step: 2, DoneStep: 1, Candidates: grow}); len(out.Grants) != 1 {
		t.Errorf("after it: %+v", out)
	}
}

// The sector that a group lacks is taken from one that can spare it: here the first
// group needs the two that it has, the last one only two of its four.
func TestAGroupKeepsWhatItNeedsItself(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 1, Sectors: 12, PerSector: []int{1, 1, 1}, Window: []int{3, 0, 1}, Chunk: 4, Slots: 2, Sharing: true})}
	b.prefill(1, 0, 0, textOf(1, 4))
	b.reserve(Reserve{Step: 3, DoneStep: 2, Release: []Release{{Slot: 0, After: 1}}})
	if g := b.prefill(3, 1, 0, append(textOf(1, 4), textOf(2, 2)...)); g.Matched != 4 || g.Count != 2 {
		t.Errorf("%+v, want 4 matched and 2 computed", g)
	}
}

// spread is a cache of 10 sectors in which three sequences of 7 tokens have taken turns:
// each lies in 7 sectors of the full group, where 3 would do. Two of them have ended.
func spread(t *testing.T) *books {
	b := &books{t: t, Manager: New(Config{PageSize: 1, Sectors: 10, PerSector: []int{3, 1}, Window: []int{0, 1}, Chunk: 4, Slots: 4, Sharing: true})}
	r := Reserve{Step: 1}
	for s := range Slot(3) {
		r.Open = append(r.Open, Open{Slot: s, IDs: textOf(int(s), 12)})
	}
	for position := range int32(7) {
		for s := range Slot(3) {
			r.Candidates = append(r.Candidates, Candidate{Slot: s, Position: position, Want: 1, Room: 1})
		}
		if out := b.reserve(r); len(out.Grants) != 3 {
			t.Fatalf("position %d: %+v", position, out)
		}
		r = Reserve{Step: r.Step + 1, DoneStep: r.Step}
		for s := range Slot(3) {
			r.Done = append(r.Done, Done{Slot: s, Written: position + 1})
		}
	}
	r.Release = []Release{{Slot: 1, After: 7}, {Slot: 2, After: 7}}
	b.reserve(r)
	return b
}

// Who is alone and yet lacks a sector gives itself up; it has the memory for itself
// then, and goes as far as Longest says.
func TestWhoIsSpreadStartsAgainAlone(t *testing.T) {
	b := spread(t)
	next := Candidate{Slot: 0, Position: 7, Want: 4, MayPreempt: true}
	if out := b.reserve(Reserve{Step: 9, DoneStep: 7, Candidates: []Candidate{next}}); len(out.Refused) != 1 {
		t.Fatalf("while step 8 runs: %+v", out)
	}
	out := b.reserve(Reserve{Step: 9, DoneStep: 8, Candidates: []Candidate{next}})
	if len(out.Preempted) != 1 || out.Preempted[0].Slot != 0 || out.Preempted[0].How != Recompute {
		t.Fatalf("%+v, want slot 0 given up", out)
	}
	r := Reserve{Step: 10, DoneStep: 9, Open: []Open{{Slot: 0, IDs: textOf(0, 12)}, {Slot: 1, IDs: textOf(5, 1)}}}
	young := Candidate{Slot: 1, Want: 1, Room: 2}
	for position := int32(0); position < 12; position += 4 {
		r.Candidates = []Candidate{{Slot: 0, Position: position, Want: 4, Room: 12, MayMatch: true, MayPreempt: position > 0}, young}
		out := b.reserve(r)
		if len(out.Grants) != 1 || out.Grants[0].Matched != 0 || out.Grants[0].Count != 4 || len(out.Refused) != 1 || out.Refused[0].Missing != 0 {
			t.Fatalf("position %d: %+v, want 4 tokens granted to slot 0 and nobody beside it", position, out)
		}
		r = Reserve{Step: r.Step + 1, DoneStep: r.Step, Done: []Done{{Slot: 0, Written: position + 4}}}
	}
	r.Release, r.Candidates = []Release{{Slot: 0, After: 12}}, []Candidate{young}
	if out := b.reserve(r); len(out.Grants) != 1 {
		t.Errorf("after its end: %+v", out)
	}
}

// What is found published is left when it keeps the sequence from the room it needs.
func TestASpreadBeginningIsComputedAgain(t *testing.T) {
	b := spread(t)
	r := Reserve{Step: 9, DoneStep: 8, Release: []Release{{Slot: 0, After: 8}}, Open: []Open{{Slot: 3, IDs: textOf(0, 12)}},
		Candidates: []Candidate{{Slot: 3, Want: 12, Room: 12, MayMatch: true}}}
	if out := b.reserve(r); len(out.Grants) != 1 || out.Grants[0].Matched != 0 || out.Grants[0].Count != 4 {
		t.Errorf("%+v, want 4 tokens from the first on", out)
	}
}
