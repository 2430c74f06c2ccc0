package sched

import (
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
)

// choose fills the candidates: decoding sequences, then started prompts, then the
// queue, each in line; policy PrefillFirst turns the first two round, as long as no
// started prompt lacks blocks. The oldest that the last step had no cache reads left
// for goes before all, and meanwhile nobody starts. Victims are named only when
// blocks may be short.
func (s *Scheduler) choose(r *blockmgr.Reserve) {
	s.slotForUrgent(r)
	c := choice{s: s, r: r, tokens: int32(s.cfg.MaxTokens), oldest: len(s.active)}
	c.unread()
	if s.cfg.Policy == PrefillFirst && !s.stuck {
		c.prompts()
		c.decodes()
	} else {
		c.decodes()
		c.prompts()
	}
	urgent := false
	if c.first == nil {
		urgent = s.offer(r, c.tokens)
	} else if len(s.queue) > 0 && s.may(s.queue[0]) {
		s.pass(s.queue[0], Budget, 0)
	}
	switch {
	case urgent:
		s.offerVictims(r, min(c.oldest, s.urgentStarted()-1))
	case c.needed > int32(s.free):
		s.offerVictims(r, c.oldest)
	}
	r.Margin = s.cfg.Margin
	r.Budget.Tokens = int32(s.cfg.MaxTokens - len(s.sure))
	r.Budget.Rows = int32(s.cfg.MaxSlots - len(s.sure))
	r.Budget.Taken = int32(len(s.sure))
	r.Budget.Read(c.reads, s.cfg.MaxReads)
}

// choice is one choice of candidates among the started.
type choice struct {
	s      *Scheduler
	r      *blockmgr.Reserve
	first  *seq  // goes before all, nil: none
	tokens int32 // left of the step's
	needed int32 // blocks asked for
	oldest int   // place in line of the oldest candidate
	reads  int   // cache positions that the sure rows read
	ahead  int   // that first reads, if it is not sure
}

// unread lets the oldest go first of those that lacked cache reads in the last step.
func (c *choice) unread() {
	q := c.s.unread
	c.s.unread = nil
	if q == nil || q.state != started || q.want() <= 0 || !c.s.may(q) {
		return
	}
	place, _ := slices.BinarySearchFunc(c.s.active, q, inLine)
	if q.decodes() {
		c.decode(place)
	} else {
		c.prompt(place)
	}
	if len(c.s.sure) == 0 {
		c.ahead = int(q.planned)
	}
	c.first = q
}

// decodes gives every decoding sequence its token.
func (c *choice) decodes() {
	for i, q := range c.s.active {
		if q.decodes() && q != c.first && c.s.may(q) {
			c.decode(i)
		}
	}
}

// decode gives the decoding sequence at a place in line its token. If it needs no
// block for it, that is sure.
func (c *choice) decode(place int) {
	q := c.s.active[place]
	switch {
	case c.tokens == 0:
		c.s.pass(q, Budget, 0)
	case q.planned >= q.blocks*int32(c.s.cfg.PageSize):
		c.tokens--
		c.ask(place, 1)
		c.needed++
	case !c.mayRead(q):
		c.s.pass(q, Budget, 0)
		c.s.lacksReads(q)
	default:
		c.tokens--
		c.reads += int(q.planned)
		c.s.sure = append(c.s.sure, q)
	}
}

// mayRead tells whether a sure row of q keeps the step within the cache reads that it
// may have. The first row of a step always does.
func (c *choice) mayRead(q *seq) bool {
	reads := c.reads + c.ahead
	return c.s.cfg.MaxReads == 0 || reads == 0 || reads+int(q.planned) <= c.s.cfg.MaxReads
}

// lacksReads notes that a started sequence had to stay out of the step for its cache reads.
func (s *Scheduler) lacksReads(q *seq) {
	if s.unread == nil || inLine(q, s.unread) < 0 {
		s.unread = q
	}
}

// prompts gives started prompts chunks of what is left.
func (c *choice) prompts() {
	for i, q := range c.s.active {
		if !q.decodes() && q.want() > 0 && q != c.first && c.s.may(q) {
			c.prompt(i)
		}
	}
}

// prompt gives the started prompt at a place in line a chunk of what is left.
func (c *choice) prompt(place int) {
	q := c.s.active[place]
	if c.tokens == 0 {
		c.s.pass(q, Budget, 0)
		return
	}
	count := min(q.want(), c.tokens)
	c.tokens -= count
	c.ask(place, count)
	c.needed += max(0, c.s.blocksFor(q.planned+count)-q.blocks)
}

// ask makes a candidate of the started one at a place in line.
func (c *choice) ask(place int, want int32) {
	q := c.s.active[place]
	c.oldest = min(c.oldest, place)
	c.r.Candidates = append(c.r.Candidates, blockmgr.Candidate{Slot: int32(q.slot), Position: q.planned, Want: want, MayPreempt: true, Place: int32(place)})
}
