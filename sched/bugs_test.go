package sched

import (
	"math"
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
)

// bug is a planted one: it spoils a message on its way. A nil function spoils nothing.
type bug struct {
	question func(*blockmgr.Reserve)
	answer   func(*blockmgr.Reserved)
	tokens   func(*Scheduler, *Tokens)
	copies   func(*blockmgr.Swapped)
	cache    func(*blockmgr.Config) // of the books, not of the executor
}

func (b *bug) spoilQuestion(r *blockmgr.Reserve) {
	if b.question != nil {
		b.question(r)
	}
}

func (b *bug) spoilAnswer(r *blockmgr.Reserved) {
	if b.answer != nil {
		b.answer(r)
	}
}

func (b *bug) spoilTokens(s *Scheduler, t *Tokens) {
	if b.tokens != nil {
		b.tokens(s, t)
	}
}

func (b *bug) spoilCopies(m *blockmgr.Swapped) {
	if b.copies != nil {
		b.copies(m)
	}
}

// books are those that a sim with the bug has.
func (b *bug) books(c blockmgr.Config) *blockmgr.Manager {
	if b.cache != nil {
		b.cache(&c)
	}
	return blockmgr.New(c)
}

// publishEarly reports the chunks of a step as done with the next question, while
// the step may be running.
func publishEarly() bug {
	var early []blockmgr.Done
	return bug{
		question: func(r *blockmgr.Reserve) { r.Done, early = append(r.Done, early...), early[:0] },
		answer: func(r *blockmgr.Reserved) {
			for _, g := range r.Grants {
				if g.Count > 1 { // a chunk: its tokens are known
					early = append(early, blockmgr.Done{Slot: g.Slot, Epoch: 1, Written: g.Start + g.Count})
				}
			}
		},
	}
}

// freeReleased and freeVictims free blocks while a step in flight may touch them.
func freeReleased() bug {
	return bug{question: func(r *blockmgr.Reserve) {
		for i := range r.Release {
			r.Release[i].After = 0
		}
	}}
}

func freeVictims() bug {
	return bug{question: func(r *blockmgr.Reserve) {
		for i := range r.Victims {
			r.Victims[i].After = 0
		}
	}}
}

// takeOlder lets the books take a victim whatever its place in line.
func takeOlder() bug {
	return bug{question: func(r *blockmgr.Reserve) {
		for i := range r.Victims {
			r.Victims[i].Place = math.MaxInt32
		}
	}}
}

// computeAtOnce gives a row to who comes back in the step that brings its cache, where
// that is copied beside the rows.
func computeAtOnce() bug {
	return bug{question: func(r *blockmgr.Reserve) {
		for i := range r.Candidates {
			if c := &r.Candidates[i]; c.FromHost {
				c.Want = 1
			}
		}
	}}
}

// shortWindow lets the books release a block while positions still attend to it.
func shortWindow() bug {
	return bug{cache: func(c *blockmgr.Config) {
		c.Window = slices.Clone(c.Window)
		for g, w := range c.Window {
			if w > 0 {
				c.Window[g] = max(1, w-c.PageSize)
			}
		}
	}}
}

// forgetGroup lets the executor hear of new blocks of the first group alone.
func forgetGroup() bug {
	return bug{answer: func(r *blockmgr.Reserved) {
		for i := range r.Grants {
			g := &r.Grants[i]
			g.New = slices.DeleteFunc(slices.Clone(g.New), func(a blockmgr.Added) bool { return a.Group > 0 })
		}
	}}
}

// forgetCopy leaves the last block out that comes back from the host pool.
func forgetCopy() bug {
	return bug{copies: func(m *blockmgr.Swapped) {
		if n := len(m.Copies) - 1; n >= 0 && !m.Copies[n].Out {
			m.Copies = m.Copies[:n]
		}
	}}
}

// swapCopies lets blocks come back in another order than they left.
func swapCopies() bug {
	return bug{copies: func(m *blockmgr.Swapped) {
		if n := len(m.Copies) - 1; n >= 1 && !m.Copies[n-1].Out && m.Copies[n].Group == m.Copies[n-1].Group {
			m.Copies[n].Device, m.Copies[n-1].Device = m.Copies[n-1].Device, m.Copies[n].Device
		}
	}}
}

// matchAll lets the books match every token that is known, and leave none to compute.
func matchAll() bug {
	return bug{question: func(r *blockmgr.Reserve) {
		for i := range r.Open {
			r.Open[i].IDs = append(r.Open[i].IDs[:len(r.Open[i].IDs):len(r.Open[i].IDs)], 1)
		}
	}}
}

// matchTooFar takes one token more than was found for computed.
func matchTooFar() bug {
	return bug{answer: func(r *blockmgr.Reserved) {
		for i := range r.Grants {
			if g := &r.Grants[i]; g.Matched > 0 && g.Count > 1 {
				g.Start, g.Count = g.Start+1, g.Count-1
			}
		}
	}}
}

// loseToken forgets to report the token of a sequence that was given up while the
// step that sampled it was in flight.
func loseToken() bug {
	return bug{tokens: func(s *Scheduler, t *Tokens) {
		for i, it := range t.Items {
			if q := s.byKey[it.Key]; q != nil && q.state == waiting {
				t.Items = append(t.Items[:i], t.Items[i+1:]...)
				return
			}
		}
	}}
}

// serveAcrossEpochs hides from the books that weights change.
func serveAcrossEpochs() bug {
	return bug{question: func(r *blockmgr.Reserve) {
		r.Epoch = 1
		for i := range r.Done {
			r.Done[i].Epoch = 1
		}
		for i := range r.Candidates {
			r.Candidates[i].Epoch = 1
		}
	}}
}

// keepAll lets nobody's cache be computed again at a commit.
func keepAll() bug {
	return bug{tokens: func(s *Scheduler, _ *Tokens) {
		for i := range s.commits {
			s.commits[i].KV = Keep
		}
	}}
}

// repeatToken forgets that token itself, so that it is sampled again.
func repeatToken() bug {
	return bug{tokens: func(s *Scheduler, t *Tokens) {
		for _, it := range t.Items {
			if q := s.byKey[it.Key]; q != nil && q.state == waiting {
				q.ids = q.ids[:len(q.ids)-len(it.IDs)]
			}
		}
	}}
}
