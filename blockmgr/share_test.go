package blockmgr

import (
	"slices"
	"testing"
)

// text is n tokens of a text; two texts differ from the first token on.
func textOf(text, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(text*1000 + i)
	}
	return ids
}

func sharing(page, blocks, slots int) Config {
	return Config{PageSize: page, Blocks: []int{blocks}, Slots: slots, Sharing: true}
}

// prefill opens a slot, computes all its tokens in one step and reports that done.
func (b *books) prefill(step uint64, slot Slot, salt uint64, ids []int32) Grant {
	b.t.Helper()
	n := int32(len(ids))
	out := b.reserve(Reserve{Step: step, DoneStep: step - 1, Open: []Open{{Slot: slot, IDs: ids, Salt: salt}}, Candidates: []Candidate{{Slot: slot, Want: n, Room: n, MayMatch: true}}})
	if len(out.Grants) != 1 {
		b.t.Fatal(out)
	}
	g := out.Grants[0]
	g.New = []Added{{Blocks: slices.Clone(g.New[0].Blocks)}}
	b.reserve(Reserve{Step: step + 1, DoneStep: step, Done: []Done{{Slot: slot, Written: n, IDs: []int32{7}}}})
	return g
}

// A prompt that is fully cached still computes one token: field report B4's counts.
func TestMatchLeavesOneTokenToCompute(t *testing.T) {
	for _, c := range []struct{ n, cached int }{{64, 48}, {63, 48}, {65, 64}, {16, 0}, {1, 0}} {
		b := &books{t: t, Manager: New(sharing(16, 32, 4))}
		b.prefill(1, 0, 0, textOf(1, c.n))
		b.reserve(Reserve{Step: 3, DoneStep: 2, Release: []Release{{Slot: 0, After: 1}}})
		g := b.prefill(3, 1, 0, textOf(1, c.n))
		if int(g.Matched) != c.cached || int(g.Start) != c.cached || int(g.Count) != c.n-c.cached {
			t.Errorf("a prompt of %d again: %+v, want %d cached", c.n, g, c.cached)
		}
	}
}

// A block is shared while its first owner still runs, and the tables name the same one.
func TestRunningSequencesShareBlocks(t *testing.T) {
	b := &books{t: t, Manager: New(sharing(4, 32, 4))}
	first := b.prefill(1, 0, 0, textOf(1, 10))
	second := b.prefill(3, 1, 0, append(textOf(1, 8), textOf(2, 5)...))
	if second.Matched != 8 || !slices.Equal(second.New[0].Blocks[:2], first.New[0].Blocks[:2]) {
		t.Errorf("the first has %+v, the second %+v", first, second)
	}
	if second.New[0].Blocks[2] == first.New[0].Blocks[2] {
		t.Error("an incomplete block is shared")
	}
}

// Different salts, and a text that differs in one early token, share nothing.
func TestSaltAndFirstTokensSeparate(t *testing.T) {
	b := &books{t: t, Manager: New(sharing(4, 64, 4))}
	b.prefill(1, 0, 1, textOf(1, 13))
	if g := b.prefill(3, 1, 2, textOf(1, 13)); g.Matched != 0 {
		t.Errorf("another salt matched %d tokens", g.Matched)
	}
	other := textOf(1, 13)
	other[0]++
	if g := b.prefill(5, 2, 1, other); g.Matched != 0 {
		t.Errorf("a text with another first token matched %d", g.Matched)
	}
	if g := b.prefill(7, 3, 1, textOf(1, 13)); g.Matched != 12 {
		t.Errorf("the same salt and text matched %d tokens, want 12", g.Matched)
	}
}

// A new weight epoch finds nothing of the old one, and a sequence that was computed
// by two publishes nothing from there on.
func TestEpochsSeparate(t *testing.T) {
	b := &books{t: t, Manager: New(sharing(4, 64, 4))}
	b.reserve(Reserve{Step: 1, Epoch: 1, Open: []Open{{Slot: 0, IDs: textOf(1, 13)}}, Candidates: []Candidate{{Slot: 0, Want: 6, Room: 13}}})
	b.reserve(Reserve{Step: 2, Epoch: 2, DoneStep: 1, Done: []Done{{Slot: 0, Epoch: 1, Written: 6}}, Candidates: []Candidate{{Slot: 0, Position: 6, Want: 7}}})
	b.reserve(Reserve{Step: 3, Epoch: 2, DoneStep: 2, Done: []Done{{Slot: 0, Epoch: 2, Written: 13}}})
	for slot, want := range map[Slot]struct {
		epoch   uint32
		matched int32
	}{1: {1, 4}, 2: {2, 0}} {
		out := b.reserve(Reserve{Step: 4, Epoch: want.epoch, DoneStep: 2, Open: []Open{{Slot: slot, IDs: textOf(1, 13)}}, Candidates: []Candidate{{Slot: slot, Want: 13, Room: 13, MayMatch: true}}})
		if g := out.Grants[0]; g.Matched != want.matched {
			t.Errorf("epoch %d matched %d tokens, want %d", want.epoch, g.Matched, want.matched)
		}
	}
}

// What arrives together is computed once: the others wait for the page that the
// first one computes, then take it (field report B2).
func TestLaterOnesWaitForWhoComputesTheirPage(t *testing.T) {
	b := &books{t: t, Manager: New(sharing(16, 64, 8))}
	r := Reserve{Step: 1}
	for s := range Slot(8) {
		r.Open = append(r.Open, Open{Slot: s, IDs: textOf(1, 64)})
		r.Candidates = append(r.Candidates, Candidate{Slot: s, Want: 64, Room: 65, MayMatch: true})
	}
	out := b.reserve(r)
	if len(out.Grants) != 1 || len(out.Waits) != 7 || out.Waits[0] != (Wait{Slot: 1, On: 0}) {
		t.Fatalf("grants %+v, waits %+v", out.Grants, out.Waits)
	}
	r = Reserve{Step: 2, DoneStep: 1, Done: []Done{{Slot: 0, Written: 64, IDs: []int32{7}}}, Candidates: r.Candidates[1:]}
	out = b.reserve(r)
	if len(out.Grants) != 7 {
		t.Fatalf("after the step: %+v", out)
	}
	for _, g := range out.Grants {
		if g.Matched != 48 || g.Count != 16 {
			t.Errorf("grant %+v, want 48 matched", g)
		}
	}
}

// Nobody waits for longer than the one it waits for runs.
func TestNobodyWaitsForWhoIsGone(t *testing.T) {
	b := &books{t: t, Manager: New(sharing(4, 64, 2))}
	ask := []Candidate{{Slot: 1, Want: 9, Room: 9, MayMatch: true}}
	out := b.reserve(Reserve{Step: 1, Open: []Open{{Slot: 0, IDs: textOf(1, 9)}, {Slot: 1, IDs: textOf(1, 9)}}, Candidates: append([]Candidate{{Slot: 0, Want: 9, Room: 9, MayMatch: true}}, ask...)})
	if len(out.Waits) != 1 {
		t.Fatal(out)
	}
	out = b.reserve(Reserve{Step: 2, Release: []Release{{Slot: 0, After: 1}}, Candidates: ask})
	if len(out.Grants) != 1 || out.Grants[0].Matched != 0 {
		t.Errorf("after the first has gone: %+v", out)
	}
}

// Idle blocks count as room and are evicted one at a time, the least recently used
// first, the end of a text before its beginning.
func TestEvictionTakesTheOldestAndTheDeepest(t *testing.T) {
	b := &books{t: t, Manager: New(sharing(4, 6, 3))}
	b.prefill(1, 0, 0, textOf(1, 9)) // 2 full pages
	b.reserve(Reserve{Step: 2, DoneStep: 1, Release: []Release{{Slot: 0, After: 1}}})
	b.prefill(3, 1, 0, textOf(2, 9))
	out := b.reserve(Reserve{Step: 4, DoneStep: 3, Release: []Release{{Slot: 1, After: 3}}})
	if out.Free != 6 {
		t.Fatalf("%d blocks have room, want all 6: 4 are idle", out.Free)
	}
	b.prefill(5, 2, 0, textOf(3, 12)) // 3 blocks: the 2 free ones, and the deeper page of text 1
	if n := b.tree.find(extend(b.tree.root(0, 0), textOf(1, 4)), nil, 0, 0, textOf(1, 4)); n == nil {
		t.Error("the beginning of text 1 was evicted before its end")
	}
	b.reserve(Reserve{Step: 6, DoneStep: 5, Release: []Release{{Slot: 2, After: 5}}})
	if g := b.prefill(7, 0, 0, textOf(2, 9)); g.Matched != 8 {
		t.Errorf("text 2 matched %d tokens, want 8: it is more recent", g.Matched)
	}
}

// A victim's full blocks stay idle and findable: what comes back computes only the rest.
func TestAVictimFindsItsBlocksAgain(t *testing.T) {
	b := &books{t: t, Manager: New(sharing(4, 7, 3))}
	b.prefill(1, 0, 0, textOf(1, 8))
	b.prefill(3, 1, 0, textOf(2, 17))
	out := b.reserve(Reserve{Step: 5, DoneStep: 4, Candidates: []Candidate{{Slot: 0, Position: 8, Want: 4, MayPreempt: true}}, Victims: []Victim{{Slot: 1, Place: 1, After: 3}}})
	if len(out.Preempted) != 1 || len(out.Grants) != 1 {
		t.Fatal(out)
	}
	b.reserve(Reserve{Step: 6, DoneStep: 5, Release: []Release{{Slot: 0, After: 5}}})
	if g := b.prefill(6, 1, 0, textOf(2, 17)); g.Matched != 16 {
		t.Errorf("back again it matched %d tokens, want 16", g.Matched)
	}
}

// Hashes that collide cost a comparison and nothing else.
func TestCollidingHashesAreToldApart(t *testing.T) {
	tr := tree{index: map[uint64]*node{}}
	a := tr.add(1, nil, 0, 0, []int32{1, 2}, 1)
	b := tr.add(1, nil, 0, 0, []int32{3, 4}, 1)
	c := tr.add(1, a, 0, 0, []int32{3, 4}, 1)
	for want, got := range map[*node]*node{
		a: tr.find(1, nil, 0, 0, []int32{1, 2}), b: tr.find(1, nil, 0, 0, []int32{3, 4}), c: tr.find(1, a, 0, 0, []int32{3, 4}),
	} {
		if got != want {
			t.Errorf("found %+v, want %+v", got, want)
		}
	}
	for _, n := range []*node{tr.find(1, b, 0, 0, []int32{3, 4}), tr.find(1, nil, 1, 0, []int32{1, 2}), tr.find(1, nil, 0, 1, []int32{1, 2})} {
		if n != nil {
			t.Errorf("found %+v under the wrong parent, salt or epoch", n)
		}
	}
	tr.drop(b)
	tr.drop(c)
	if tr.find(1, nil, 0, 0, []int32{1, 2}) != nil || len(tr.index) != 0 {
		t.Error("a parent without blocks and children is kept")
	}
}

// Nor does anybody wait for a page of other tokens, another salt or epoch.
func TestNobodyWaitsForACollision(t *testing.T) {
	for _, c := range []struct {
		text  int
		salt  uint64
		epoch uint32
	}{{2, 0, 1}, {1, 1, 1}, {1, 0, 2}} {
		b := &books{t: t, Manager: New(sharing(4, 16, 2))}
		b.reserve(Reserve{Step: 1, Epoch: 1, Open: []Open{{Slot: 0, IDs: textOf(1, 9)}}, Candidates: []Candidate{{Slot: 0, Want: 1, Room: 9, MayMatch: true}}})
		b.ahead[extend(b.tree.root(c.salt, c.epoch), textOf(c.text, 4))] = &b.slots[0]
		out := b.reserve(Reserve{Step: 2, Epoch: c.epoch, Open: []Open{{Slot: 1, IDs: textOf(c.text, 9), Salt: c.salt}}, Candidates: []Candidate{{Slot: 1, Want: 9, Room: 9, MayMatch: true}}})
		if len(out.Grants) != 1 {
			t.Errorf("text %d, salt %d, epoch %d: %+v", c.text, c.salt, c.epoch, out)
		}
	}
}

func BenchmarkMatch32k(b *testing.B) {
	m := New(sharing(32, 2048, 2))
	ids := textOf(1, 32<<10)
	var out Reserved
	n := int32(len(ids))
	for _, r := range []Reserve{
		{Step: 1, Budget: Budget{Tokens: 1 << 20, Rows: 8}, Open: []Open{{Slot: 0, IDs: ids}}, Candidates: []Candidate{{Slot: 0, Want: n, Room: n}}},
		{Step: 2, DoneStep: 1, Done: []Done{{Slot: 0, Written: n}}},
	} {
		if err := m.Reserve(&r, &out); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for _, r := range []Reserve{
			{Step: 3, DoneStep: 2, Budget: Budget{Tokens: 1 << 20, Rows: 8}, Open: []Open{{Slot: 1, IDs: ids}}, Candidates: []Candidate{{Slot: 1, Want: n, Room: n, MayMatch: true}}},
			{Step: 4, DoneStep: 3, Release: []Release{{Slot: 1}}},
		} {
			if err := m.Reserve(&r, &out); err != nil {
				b.Fatal(err)
			}
			if len(out.Grants) == 1 && out.Grants[0].Count != 32 {
				b.Fatal(out.Grants)
			}
		}
	}
}
