package blockmgr

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// against runs a Manager and its twin on the same questions.
type against struct {
	*caller
	manager *Manager
	twin    *twin
	out     Reserved
	bug     bug // planted, none by default
}

func newAgainst(p pick) *against {
	c := randomCaller(p)
	return &against{caller: c, manager: New(c.config), twin: newTwin(c.config)}
}

// run is a whole life: some questions, and all given back.
func (a *against) run(questions int) error {
	for range questions {
		if err := a.step(a.ask()); err != nil {
			return err
		}
	}
	if err := a.step(a.leave()); err != nil {
		return err
	}
	if a.out.Free != slices.Min(a.config.Blocks) {
		return fmt.Errorf("%d blocks have room at the end, of %v", a.out.Free, a.config.Blocks)
	}
	return nil
}

// step asks both, and says how they differ or what is wrong with the books.
func (a *against) step(r *Reserve) error {
	want := a.twin.reserve(r)
	a.bug.spoilQuestion(a.manager, r)
	if err := a.manager.Reserve(r, &a.out); err != nil {
		return err
	}
	a.bug.spoilBooks(a.manager, &a.out)
	if err := errors.Join(a.manager.Check(), a.manager.checkTree()); err != nil && !a.bug.unchecked {
		return err
	}
	if err := a.compare(want); err != nil {
		return fmt.Errorf("step %d: %w", r.Step, err)
	}
	if err := a.writesNothingPublished(); err != nil {
		return fmt.Errorf("step %d: %w", r.Step, err)
	}
	a.told(&a.out)
	return nil
}

// compare holds the answers against each other.
func (a *against) compare(want *Reserved) error {
	got := &a.out
	if w, g := plain(want), plain(got); w != g {
		return fmt.Errorf("the answer is\n%s, the twin's\n%s", g, w)
	}
	for _, g := range got.Grants {
		for _, n := range g.New {
			for i, number := range n.Blocks {
				if err := a.twin.hear(int(n.Group), a.twin.slots[g.Slot].tables[n.Group][n.Index+int32(i)], number); err != nil {
					return fmt.Errorf("slot %d: %w", g.Slot, err)
				}
			}
		}
	}
	for i, c := range got.Copies {
		table := a.twin.slots[c.Slot].tables[c.Group]
		if c.From != want.Copies[i].From || !slices.ContainsFunc(table, func(b *twinBlock) bool { return b != nil && b.number == c.To }) {
			return fmt.Errorf("copies %+v, the twin copies %+v", c, want.Copies[i])
		}
	}
	return nil
}

// writesNothingPublished wants every block that a grant lets be written to be private,
// and what was found to be whole pages that leave a token to compute.
func (a *against) writesNothingPublished() error {
	page := a.manager.page
	for _, g := range a.out.Grants {
		s := &a.manager.slots[g.Slot]
		if g.Matched%page != 0 || g.Matched > 0 && g.Count < 1 {
			return fmt.Errorf("slot %d finds %d tokens and computes %d", g.Slot, g.Matched, g.Count)
		}
		for p := g.Start / page; p*page < g.Start+g.Count; p++ {
			for i := range a.manager.pools {
				if b := s.block(i, p); a.manager.pools[i].node[b] != nil {
					return fmt.Errorf("slot %d writes to block %d of group %d, which is published", g.Slot, b, i)
				}
			}
		}
	}
	return nil
}

// plain is an answer without the numbers of blocks.
func plain(r *Reserved) string {
	s := fmt.Sprintf("waits %v, refused %v, preempted %v, room %d, grants", r.Waits, r.Refused, r.Preempted, r.Free)
	for _, g := range r.Grants {
		s += fmt.Sprintf(" {slot %d matched %d start %d count %d, new", g.Slot, g.Matched, g.Start, g.Count)
		for _, n := range g.New {
			s += fmt.Sprintf(" group %d from %d %d blocks", n.Group, n.Index, len(n.Blocks))
		}
		s += "}"
	}
	for _, c := range r.Copies {
		s += fmt.Sprintf(" copy for %d in %d", c.Slot, c.Group)
	}
	return s
}

// hear tells the twin the Manager's number of one of its blocks. It is always the
// same, and no other block's that is not free.
func (t *twin) hear(g int, b *twinBlock, number int32) error {
	for _, o := range append(t.held(g), t.idle[g]...) {
		if o != b && o.number == number {
			return fmt.Errorf("block %d of group %d is another's", number, g)
		}
	}
	if b.number >= 0 && b.number != number {
		return fmt.Errorf("block %d of group %d was block %d", number, g, b.number)
	}
	b.number = number
	return nil
}

// Whatever a scheduler asks, the Manager answers as its dumb twin does.
func TestManagerEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		if err := newAgainst(drawn(r)).run(rapid.IntRange(1, 60).Draw(r, "questions")); err != nil {
			r.Fatal(err)
		}
	})
}

// The same for long: 100,000 questions, and every block is free at the end of each of
// the caches.
func TestHundredThousandQuestions(t *testing.T) {
	caches := uint64(50)
	if testing.Short() {
		caches /= 5
	}
	for seed := range caches {
		if err := newAgainst(seeded(seed)).run(2000); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
