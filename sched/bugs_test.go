package sched

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/blockmgr"
)

// bug is a planted one: it spoils a message on its way. A nil function spoils nothing.
type bug struct {
	question func(*blockmgr.Reserve)
	answer   func(*blockmgr.Reserved)
	tokens   func(*Scheduler, *Tokens)
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

// Every planted bug is found by the random workloads: they can fail.
func TestPlantedBugsAreCaught(t *testing.T) {
	for _, b := range []struct {
		name      string
		plant     func() bug
		complaint string
		config    func(*simConfig)
	}{
		{"publish early", publishEarly, "as published, which step", nil},
		{"free what was released", freeReleased, "may touch it", nil},
		{"free a victim's blocks", freeVictims, "may touch it", nil},
		{"take a victim older than the candidate", takeOlder, "which is younger", nil},
		{"compute before the cache is back", computeAtOnce, "wrong cache", func(c *simConfig) { c.host, c.overlap = 40, true }},
		{"match all tokens", matchAll, "is granted 0 tokens", nil},
		{"match too far", matchTooFar, "wrong cache", nil},
		{"lose a token in flight", loseToken, "want", nil},
		{"repeat a token in flight", repeatToken, "want", nil},
	} {
		t.Run(b.name, func(t *testing.T) {
			for seed := range uint64(1000) {
				if complaint := complaintOf(seed, b.plant(), b.config); complaint != "" {
					if !strings.Contains(complaint, b.complaint) {
						t.Errorf("caught by %q, want %q", complaint, b.complaint)
					}
					return
				}
			}
			t.Error("nobody noticed")
		})
	}
}

// complaintOf is what a random workload with a planted bug complains of.
func complaintOf(seed uint64, b bug, change func(*simConfig)) (complaint string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case caught:
			complaint = string(p)
		default:
			panic(p)
		}
	}()
	pick := seeded(seed)
	c := randomConfig(pick)
	c.depth, c.failing = 2, false
	if change != nil {
		change(&c)
	}
	w := workload{sim: resumedSim(catcher{}, c), pick: pick, next: 1}
	w.bug = b
	for range 100 {
		w.operate()
	}
	w.finish()
	return ""
}

// catcher is a failer that stops at the first complaint.
type catcher struct{}

type caught string

func (catcher) Helper()                   {}
func (catcher) Fatal(args ...any)         { panic(caught(fmt.Sprint(args...))) }
func (catcher) Fatalf(f string, a ...any) { panic(caught(fmt.Sprintf(f, a...))) }
func (catcher) Errorf(f string, a ...any) { panic(caught(fmt.Sprintf(f, a...))) }
