package sched

import (
	"fmt"
	"slices"
)

// KV is a policy: what a commit does to a sequence that has cache of older weights,
// or tokens that they sampled. Who has neither just begins with the new ones.
type KV uint8

const (
	AsCommitted KV = iota // of a request: as the commit says; of a commit: Keep
	Keep                  // goes on over its cache; what it computes from then on is published no more
	Recompute             // its cache is computed again, from its first token on
	Abort                 // ends as Aborted, with what it has
)

// Commit is a change of weights.
type Commit struct {
	Epoch   uint32 // of the new weights, above the one before
	Version uint32 // of them: a place in the order of all versions. After a way back it is smaller than before
	KV      KV     // for requests that do not say it themselves
}

// Commit lets the next plan compute with other weights. One whose Reserve is out is
// handed over with those before.
func (s *Scheduler) Commit(c Commit) error {
	if newest := s.newest(); c.Epoch <= newest.Epoch {
		return fmt.Errorf("%w: epoch %d is committed after epoch %d", ErrProtocol, c.Epoch, newest.Epoch)
	}
	s.commits = append(s.commits, c)
	return nil
}

// Oldest is the oldest weight epoch that a step in flight, or one that will be
// planned, computes with.
func (s *Scheduler) Oldest() uint32 {
	if len(s.flight) > 0 {
		return s.flight[0].Epoch
	}
	return s.serving.Epoch
}

// Serving is the epoch that the next plan computes with.
func (s *Scheduler) Serving() uint32 { return s.serving.Epoch }

// Renewed are those whose cache was given up when Serving changed, until it changes again.
func (s *Scheduler) Renewed() []Key { return s.renewed }

// newest is the last commit, be it in force or not.
func (s *Scheduler) newest() Commit {
	if n := len(s.commits); n > 0 {
		return s.commits[n-1]
	}
	return s.serving
}

// Ended moves into out whom commits have ended since it was last called, and tells
// whether there is any. Call it after Plan.
func (s *Scheduler) Ended(out *Tokens) bool {
	out.Items = append(out.Items, s.ends...)
	clear(s.ends)
	s.ends = s.ends[:0]
	return len(out.Items) > 0
}

// renew puts commits in force, unless a plan is on its way.
func (s *Scheduler) renew() {
	if s.out || s.held != nil {
		return
	}
	if len(s.commits) == 0 {
		return
	}
	newest := s.newest().Version
	s.renewed = s.renewed[:0]
	for _, c := range s.commits {
		s.serving, s.single = c, []Run{{Epoch: c.Epoch}}
		s.changes++
		for _, q := range s.everyone() {
			s.meet(q, c, newest)
		}
		s.fresh = true
	}
	s.commits = s.commits[:0]
}

// everyone is all sequences in an order that depends on events alone, the unborn
// before their parents.
func (s *Scheduler) everyone() (all []*seq) {
	for _, list := range [][]*seq{s.active, s.leaving, s.queue} {
		for _, q := range list {
			all = append(append(all, q.children...), q)
		}
	}
	return all
}

// meet does to a sequence what a commit means for it. Of commits that come into force
// together only the newest one's version is ever computed with, so only that one counts.
func (s *Scheduler) meet(q *seq, c Commit, newest uint32) {
	policy := c.KV
	if q.kv != AsCommitted {
		policy = q.kv
	}
	switch {
	case newest < q.version || s.outdated(q):
		s.finish(q, Stale)
	case !q.has():
	case policy == Abort:
		s.finish(q, Aborted)
	case policy == Recompute:
		s.recompute(q)
	}
}

// finish ends a sequence of which no step in flight can tell.
func (s *Scheduler) finish(q *seq, why Finish) {
	s.ends = append(s.ends, Item{Key: q.key, Finish: why, Cached: q.cached, Preemptions: q.preemptions})
	s.end(q)
}

// recompute gives a sequence's cache up. It keeps its age and its tokens.
func (s *Scheduler) recompute(q *seq) {
	switch {
	case q.state == started:
		s.evict(q)
	case q.hosted > 0:
		s.dropHosted(q)
		q.planned = 0
	default: // it is given up already
		return
	}
	s.renewed = append(s.renewed, q.key)
}

// outdated tells that as many commits came after the first token of q as end it.
func (s *Scheduler) outdated(q *seq) bool {
	return q.commits > 0 && q.first >= 0 && s.changes-q.first >= int(q.commits)
}

// has tells that a sequence has cache or tokens; an unborn one has its parent's cache.
func (q *seq) has() bool {
	if q.state == unborn {
		return q.parent.has()
	}
	return q.planned > 0 || len(q.ids) > int(q.prompt) || q.pending > 0
}

// Run is the part of a cache from Start on that the weights of one epoch computed: up
// to the next run's, or as far as it goes.
type Run struct {
	Epoch uint32
	Start int32
}

// wrote notes that weights of an epoch compute the cache from a position on. The list
// may be known to others, so another epoch makes another list.
func (q *seq) wrote(epoch uint32, start int32) {
	if last := q.runs[len(q.runs)-1]; last.Epoch != epoch {
		q.runs = append(slices.Clip(q.runs), Run{epoch, start})
	}
}

// runsTo are the runs of the cache up to a position: a step in flight may have begun
// another one behind it.
func (q *seq) runsTo(end int32) []Run {
	n := len(q.runs)
	for n > 1 && q.runs[n-1].Start >= end {
		n--
	}
	return q.runs[:n:n]
}

// epoch is the one whose weights computed the cache, 0: those of several.
func (q *seq) epoch() uint32 {
	if len(q.runs) == 1 {
		return q.runs[0].Epoch
	}
	return 0
}
