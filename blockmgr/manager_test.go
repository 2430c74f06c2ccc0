package blockmgr

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// books is a Manager under test: every call is followed by the check of all blocks.
type books struct {
	t interface {
		Helper()
		Fatal(...any)
		Errorf(string, ...any)
	}
	*Manager
	out Reserved
}

func (b *books) reserve(r Reserve) *Reserved {
	b.t.Helper()
	if r.Budget == (Budget{}) {
		r.Budget = Budget{Tokens: 1000, Rows: 1000}
	}
	if err := b.Reserve(&r, &b.out); err != nil {
		b.t.Fatal(err)
	}
	if err := b.Check(); err != nil {
		b.t.Fatal(err)
	}
	return &b.out
}

func open(slots ...Slot) (o []Open) {
	for _, s := range slots {
		o = append(o, Open{Slot: s})
	}
	return o
}

func TestGrantsAreCutToTheBudgetAndCoverTheTokens(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 4, Blocks: []int{8}, Slots: 4})}
	out := b.reserve(Reserve{Step: 1, Budget: Budget{Tokens: 10, Rows: 2}, Open: open(0, 1, 2),
		Candidates: []Candidate{{Slot: 0, Want: 7}, {Slot: 1, Want: 9}, {Slot: 2, Want: 1}}})
	if len(out.Grants) != 2 || out.Grants[0].Count != 7 || out.Grants[1].Count != 3 {
		t.Fatalf("grants %+v, want 7 and 3 tokens", out.Grants)
	}
	if n := len(out.Grants[0].New[0].Blocks); n != 2 {
		t.Errorf("7 tokens on pages of 4 got %d blocks", n)
	}
	if len(out.Refused) != 1 || out.Refused[0] != (Refusal{Slot: 2}) || out.Free != 5 {
		t.Errorf("refused %+v with %d free", out.Refused, out.Free)
	}
	out = b.reserve(Reserve{Step: 2, Candidates: []Candidate{{Slot: 0, Position: 7, Want: 1}, {Slot: 1, Position: 3, Want: 2}}})
	if len(out.Grants[0].New) != 0 || out.Grants[1].New[0].Index != 1 {
		t.Errorf("second grants %+v: the first needs no block, the second its block 1", out.Grants)
	}
}

// All or nothing: a refusal changes nothing and says what lacks; no younger new
// sequence passes the one that was refused, a started one goes on.
func TestRefusalChangesNothing(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 4, Blocks: []int{4}, Slots: 3})}
	b.reserve(Reserve{Step: 1, Open: open(2), Candidates: []Candidate{{Slot: 2, Want: 4}}})
	out := b.reserve(Reserve{Step: 2, Open: open(0, 1), Candidates: []Candidate{{Slot: 0, Want: 17}, {Slot: 1, Want: 1}, {Slot: 2, Position: 4, Want: 1}}})
	if len(out.Refused) != 2 || out.Refused[0] != (Refusal{Slot: 0, Missing: 2}) || out.Refused[1] != (Refusal{Slot: 1}) {
		t.Errorf("refused %+v, want slot 0 for lack of 2, and slot 1 behind it", out.Refused)
	}
	if len(out.Grants) != 1 || out.Grants[0].Slot != 2 || out.Free != 2 {
		t.Errorf("grants %+v with %d free", out.Grants, out.Free)
	}
}

// What a step in flight may touch is not given away before that step is done.
func TestReleasedBlocksDrain(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 4, Blocks: []int{2}, Slots: 2})}
	b.reserve(Reserve{Step: 1, Open: open(0), Candidates: []Candidate{{Slot: 0, Want: 8}}})
	if out := b.reserve(Reserve{Step: 2, Release: []Release{{Slot: 0, After: 1}}}); out.Free != 0 {
		t.Fatalf("%d blocks are free while step 1 runs", out.Free)
	}
	if out := b.reserve(Reserve{Step: 2, DoneStep: 1}); out.Free != 2 {
		t.Errorf("%d blocks are free after step 1, want 2", out.Free)
	}
}

func TestVictimsAreTakenInOrderAndOnlyWhatSuffices(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 1, Blocks: []int{6}, Slots: 4})}
	b.reserve(Reserve{Step: 1, Open: open(0, 1, 2), Candidates: []Candidate{{Slot: 0, Want: 2}, {Slot: 1, Want: 2}, {Slot: 2, Want: 2}}})
	victims := []Victim{{Slot: 2, Place: 2, After: 1}, {Slot: 1, Place: 1, After: 1}, {Slot: 0, After: 1}}
	out := b.reserve(Reserve{Step: 2, DoneStep: 1, Candidates: []Candidate{{Slot: 0, Position: 2, Want: 1, MayPreempt: true}, {Slot: 1, Position: 2, Want: 1, MayPreempt: true, Place: 1}, {Slot: 2, Position: 2, Want: 1, MayPreempt: true, Place: 2}}, Victims: victims})
	if len(out.Preempted) != 1 || out.Preempted[0].Slot != 2 {
		t.Errorf("preempted %+v, want slot 2 alone: its two blocks are enough for both", out.Preempted)
	}
	if len(out.Grants) != 2 || len(out.Refused) != 1 || out.Refused[0].Slot != 2 {
		t.Errorf("grants %+v, refused %+v", out.Grants, out.Refused)
	}
}

// The first in the order of sacrifice goes that is behind the candidate in line: who is
// cheap but older stays, and goes for one that is older still.
func TestTheCheapestYoungerOneGoes(t *testing.T) {
	for place, want := range map[int32]Slot{0: 1, 2: 3, 3: 2} {
		b := &books{t: t, Manager: New(Config{PageSize: 1, Blocks: []int{4}, Slots: 4})}
		b.reserve(Reserve{Step: 1, Open: open(0, 1, 2, 3), Candidates: []Candidate{{Slot: 0, Want: 1}, {Slot: 1, Want: 1}, {Slot: 2, Want: 1}, {Slot: 3, Want: 1}}})
		out := b.reserve(Reserve{Step: 2, DoneStep: 1, Candidates: []Candidate{{Slot: 0, Position: 1, Want: 1, MayPreempt: true, Place: place}},
			Victims: []Victim{{Slot: 0, Place: place}, {Slot: 1, Place: 1}, {Slot: 3, Place: 3}, {Slot: 2, Place: 4}}})
		if len(out.Preempted) != 1 || out.Preempted[0].Slot != want {
			t.Errorf("for place %d: %+v, want slot %d", place, out.Preempted, want)
		}
	}
}

// A candidate takes only victims behind it in line, so the youngest waits.
func TestTheYoungestTakesNobody(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 1, Blocks: []int{4}, Slots: 2})}
	b.reserve(Reserve{Step: 1, Open: open(0, 1), Candidates: []Candidate{{Slot: 0, Want: 2}, {Slot: 1, Want: 2}}})
	out := b.reserve(Reserve{Step: 2, DoneStep: 1, Candidates: []Candidate{{Slot: 1, Position: 2, Want: 1, MayPreempt: true, Place: 1}}, Victims: []Victim{{Slot: 1, Place: 1, After: 1}, {Slot: 0, After: 1}}})
	if len(out.Preempted) != 0 || len(out.Refused) != 1 {
		t.Errorf("preempted %+v, refused %+v", out.Preempted, out.Refused)
	}
}

// While a victim's blocks drain, they are kept for whom it was taken: the candidate is
// refused for now, no second victim is taken, and a later candidate gets nothing, not
// even the block that is free.
func TestDrainingBlocksOfAVictimAreKept(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 1, Blocks: []int{6}, Slots: 4})}
	b.reserve(Reserve{Step: 1, Open: open(0, 1, 2), Candidates: []Candidate{{Slot: 0, Want: 2}, {Slot: 1, Want: 2}, {Slot: 2, Want: 1}}})
	ask := Reserve{Step: 2, Open: open(3), Candidates: []Candidate{{Slot: 0, Position: 2, Want: 2, MayPreempt: true}, {Slot: 3, Want: 1}}, Victims: []Victim{{Slot: 1, Place: 1, After: 1}, {Slot: 2, Place: 2, After: 1}, {Slot: 0, After: 1}}}
	out := b.reserve(ask)
	if len(out.Preempted) != 1 || out.Preempted[0].Slot != 1 || len(out.Grants) != 0 || len(out.Refused) != 2 || out.Refused[0] != (Refusal{Slot: 0, Missing: 1}) {
		t.Fatalf("while step 1 runs: %+v", out)
	}
	ask.Open, ask.DoneStep, ask.Victims = nil, 1, nil
	out = b.reserve(ask)
	if len(out.Preempted) != 0 || len(out.Grants) != 2 {
		t.Errorf("after step 1: %+v", out)
	}
}

func TestARowGrantedInAStepIsNoVictimInIt(t *testing.T) {
	b := &books{t: t, Manager: New(Config{PageSize: 1, Blocks: []int{3}, Slots: 2})}
	b.reserve(Reserve{Step: 1, Open: open(0, 1), Candidates: []Candidate{{Slot: 1, Want: 1}, {Slot: 0, Want: 1}}})
	out := b.reserve(Reserve{Step: 2, DoneStep: 1, Candidates: []Candidate{{Slot: 1, Position: 1, Want: 1, MayPreempt: true, Place: 1}, {Slot: 0, Position: 1, Want: 1, MayPreempt: true}}, Victims: []Victim{{Slot: 1, Place: 1, After: 1}, {Slot: 0, After: 1}}})
	if len(out.Preempted) != 0 || len(out.Grants) != 1 || out.Grants[0].Slot != 1 {
		t.Errorf("%+v: slot 1 has its row in this step", out)
	}
}

func TestBrokenProtocolIsRefused(t *testing.T) {
	for name, r := range map[string]Reserve{
		"no such slot":             {Open: open(9)},
		"opened twice":             {Open: open(0)},
		"released but not open":    {Release: []Release{{Slot: 1}}},
		"wrote more than it owns":  {Done: []Done{{Slot: 0, Written: 5}}},
		"negative slot":            {Candidates: []Candidate{{Slot: -1}}},
		"fork of a closed slot":    {Forks: []Fork{{Slot: 1, Parent: 2, IDs: textOf(1, 3)}}},
		"fork of no slot":          {Forks: []Fork{{Slot: 1, Parent: 9, IDs: textOf(1, 3)}}},
		"fork of more than it has": {Forks: []Fork{{Slot: 1, Parent: 0, IDs: textOf(1, 5)}}},
		"fork into an open slot":   {Forks: []Fork{{Slot: 0, Parent: 0, IDs: textOf(1, 3)}}},
		"done of no slot":          {Done: []Done{{Slot: 7}}},
		"released twice":           {Release: []Release{{Slot: 0}, {Slot: 0}}},
		"victim of no slot":        {Budget: Budget{Tokens: 99, Rows: 9}, Candidates: []Candidate{{Slot: 0, Position: 3, Want: 9, MayPreempt: true}}, Victims: []Victim{{Slot: 5, Place: 1}}},
		"wants nothing":            {Budget: Budget{Tokens: 99, Rows: 9}, Candidates: []Candidate{{Slot: 0, Position: 3}}},
	} {
		b := &books{t: t, Manager: New(Config{PageSize: 4, Blocks: []int{2}, Slots: 3})}
		b.reserve(Reserve{Step: 1, Open: open(0), Candidates: []Candidate{{Slot: 0, Want: 3}}})
		if err := b.Reserve(&r, &b.out); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := &books{t: t, Manager: New(sharing(4, 2, 1))}
	b.reserve(Reserve{Step: 1, Open: []Open{{Slot: 0, IDs: textOf(1, 3)}}, Candidates: []Candidate{{Slot: 0, Want: 3}}})
	if err := b.Reserve(&Reserve{Done: []Done{{Slot: 0, Written: 4}}}, &b.out); !errors.Is(err, ErrProtocol) {
		t.Errorf("wrote a token that is not known: %v", err)
	}
}

// Random steps with random victims, draining and several groups: no block is lost or
// held twice (Check runs after each), and all are free at the end.
func TestRandomStepsLoseNoBlock(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := Config{PageSize: rapid.IntRange(1, 5).Draw(r, "page"), Slots: 6, Sectors: rapid.SampledFrom([]int{0, 3, 7}).Draw(r, "sectors")}
		c.Blocks = rapid.SliceOfN(rapid.IntRange(1, 20), 1, 3).Draw(r, "groups")
		for _, n := range c.Blocks {
			c.PerSector = append(c.PerSector, 1+n/4)
		}
		b := &books{t: r, Manager: New(c)}
		empty := b.free()
		var length [6]int32
		var isOpen [6]bool
		step := uint64(0)
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			step++
			q := Reserve{Step: step, DoneStep: step - uint64(rapid.IntRange(1, 2).Draw(r, "in flight")), Budget: Budget{Tokens: 30, Rows: 6}}
			for s := range isOpen {
				switch rapid.IntRange(0, 5).Draw(r, "op") {
				case 0:
					if isOpen[s] {
						q.Release = append(q.Release, Release{Slot: Slot(s), After: step - 1})
						isOpen[s], length[s] = false, 0
					}
				case 1, 2, 3:
					if !isOpen[s] {
						q.Open = append(q.Open, Open{Slot: Slot(s)})
						isOpen[s] = true
					}
					q.Candidates = append(q.Candidates, Candidate{Slot: Slot(s), Position: length[s], Want: int32(rapid.IntRange(1, 9).Draw(r, "want")), MayPreempt: rapid.Bool().Draw(r, "preempt"), Place: int32(s)})
				}
			}
			for s := len(isOpen) - 1; s >= 0; s-- {
				if isOpen[s] && length[s] > 0 {
					q.Victims = append(q.Victims, Victim{Slot: Slot(s), Place: int32(s), After: step - 1})
				}
			}
			if q.DoneStep > step { // wrapped below zero
				q.DoneStep = 0
			}
			out := b.reserve(q)
			for _, g := range out.Grants {
				length[g.Slot] = g.Start + g.Count
			}
			for _, p := range out.Preempted {
				isOpen[p.Slot], length[p.Slot] = false, 0
			}
		}
		last := Reserve{Step: step + 1, DoneStep: step}
		for s := range isOpen {
			if isOpen[s] {
				last.Release = append(last.Release, Release{Slot: Slot(s), After: step})
			}
		}
		out := b.reserve(last)
		if out.Free != empty {
			r.Errorf("%d blocks are free at the end, want %d", out.Free, empty)
		}
	})
}

// Check finds what is wrong with the books.
func TestCheckFindsWrongBooks(t *testing.T) {
	for name, spoil := range map[string]func(*Manager){
		"a lost block":                  func(m *Manager) { m.pools[0].free.remove(m.pools[0].free.oldest()) },
		"a block in two places":         func(m *Manager) { m.pools[0].free.push(m.slots[0].tables[0][0]) },
		"a reference too few":           func(m *Manager) { m.pools[0].refs[m.slots[0].tables[0][0]]-- },
		"an idle block that is private": func(m *Manager) { m.pools[0].node[m.pools[0].idle.oldest()] = nil },
		"an idle block too many":        func(m *Manager) { m.pools[0].idle.count++ },
		"a node that names another's block": func(m *Manager) {
			m.pools[0].node[m.pools[0].idle.oldest()].blocks[0] = m.slots[0].tables[0][0]
		},
	} {
		b := &books{t: t, Manager: New(sharing(4, 8, 2))}
		b.prefill(1, 1, 0, textOf(2, 5))
		b.reserve(Reserve{Step: 2, DoneStep: 1, Release: []Release{{Slot: 1, After: 1}}})
		b.prefill(3, 0, 0, textOf(1, 5))
		spoil(b.Manager)
		if b.Check() == nil {
			t.Errorf("%s: nothing found", name)
		}
	}
}
