package blockmgr

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// bug is a planted one: it spoils a question, or the books behind an answer. A nil
// function spoils nothing.
type bug struct {
	question  func(*Manager, *Reserve)
	books     func(*Manager, *Reserved)
	unchecked bool // Check is not asked: the twin alone must notice
}

func (b *bug) spoilQuestion(m *Manager, r *Reserve) {
	if b.question != nil {
		b.question(m, r)
	}
}

func (b *bug) spoilBooks(m *Manager, out *Reserved) {
	if b.books != nil {
		b.books(m, out)
	}
}

// publishEarly publishes pages when they are granted, before their step is done.
func publishEarly(m *Manager, out *Reserved) {
	for _, g := range out.Grants {
		s := &m.slots[g.Slot]
		m.publish(s, min(g.Start+g.Count, int32(len(s.ids))))
	}
}

// forgetReference does not count who takes a published block.
func forgetReference(m *Manager, out *Reserved) {
	for _, g := range out.Grants {
		if g.Matched > 0 {
			b := m.slots[g.Slot].tables[0][0]
			if m.pools[0].refs[b] > 1 {
				m.pools[0].refs[b]--
			}
		}
	}
}

// freeReleased and freeVictims free blocks while a step in flight may touch them.
func freeReleased(_ *Manager, r *Reserve) {
	for i := range r.Release {
		r.Release[i].After = 0
	}
}

func freeVictims(_ *Manager, r *Reserve) {
	for i := range r.Victims {
		r.Victims[i].After = 0
	}
}

// takeOlder takes a victim whatever its place in line.
func takeOlder(_ *Manager, r *Reserve) {
	for i := range r.Victims {
		r.Victims[i].Place = math.MaxInt32
	}
}

// takeDearest turns the order of sacrifice round.
func takeDearest(_ *Manager, r *Reserve) { slices.Reverse(r.Victims) }

// publishWritten publishes a page again that is written to.
func publishWritten(m *Manager, out *Reserved) {
	for _, g := range out.Grants {
		s := &m.slots[g.Slot]
		if page := g.Start / m.page; g.Count > 0 && m.sharing {
			n := m.tree.add(1, nil, 99, 0, make([]int32, m.page), len(m.pools))
			b := s.block(0, page)
			n.blocks[0], m.pools[0].node[b] = b, n
		}
	}
}

// matchAll matches every token that is known, and leaves none to compute.
func matchAll(_ *Manager, r *Reserve) {
	for i := range r.Open {
		ids := r.Open[i].IDs
		r.Open[i].IDs = append(ids[:len(ids):len(ids)], 1)
	}
}

// evictNewest turns the order of the idle blocks round by one.
func evictNewest(m *Manager, _ *Reserved) {
	if l := &m.pools[0].idle; l.count > 1 {
		b := l.oldest()
		l.remove(b)
		l.push(b)
	}
}

// waitForNobody forgets who computes which page.
func waitForNobody(m *Manager, _ *Reserve) {
	for i := range m.slots {
		m.pass(&m.slots[i])
	}
}

// shortWindow lets go what positions still attend to.
func shortWindow(m *Manager, _ *Reserve) {
	for g, w := range m.window {
		if w > 1 {
			m.window[g] = 1
		}
	}
}

// mixEpochs takes tokens that two weight epochs computed for those of one.
func mixEpochs(m *Manager, r *Reserve) {
	for i := range r.Done {
		r.Done[i].Epoch = m.slots[r.Done[i].Slot].epoch
	}
}

// mixSalts lets one tenant find what another's tokens left.
func mixSalts(_ *Manager, r *Reserve) {
	for i := range r.Open {
		r.Open[i].Salt = 0
	}
}

// Every planted bug is found by the comparison with the twin: it can fail.
func TestPlantedBugsAreCaught(t *testing.T) {
	for _, b := range []struct {
		name      string
		plant     bug
		complaint string
	}{
		{"publish early", bug{books: publishEarly}, "which is published"},
		{"forget a reference", bug{books: forgetReference}, "references"},
		{"forget a reference, unchecked", bug{books: forgetReference, unchecked: true}, "the answer is"},
		{"free what was released", bug{question: freeReleased}, "the answer is"},
		{"free a victim's blocks", bug{question: freeVictims}, "the answer is"},
		{"take a victim older than the candidate", bug{question: takeOlder}, "the answer is"},
		{"take the dearest victim", bug{question: takeDearest}, "the answer is"},
		{"write to what is published", bug{books: publishWritten}, "which is published"},
		{"match all tokens", bug{question: matchAll}, "the answer is"},
		{"evict the newest", bug{books: evictNewest}, "is another's"},
		{"wait for nobody", bug{question: waitForNobody}, "the answer is"},
		{"release what the window holds", bug{question: shortWindow}, "the answer is"},
		{"mix epochs", bug{question: mixEpochs}, "is another's"},
		{"mix salts", bug{question: mixSalts}, "the answer is"},
	} {
		t.Run(b.name, func(t *testing.T) {
			for seed := range uint64(1000) {
				a := newAgainst(seeded(seed))
				a.bug = b.plant
				if err := a.run(40); err != nil {
					if !strings.Contains(err.Error(), b.complaint) {
						t.Errorf("caught by %q, want %q", err, b.complaint)
					}
					return
				}
			}
			t.Error("nobody noticed")
		})
	}
}
