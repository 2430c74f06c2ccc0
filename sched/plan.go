package sched

import (
	"cmp"
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// Plan returns the Reserve to send to blocks, nil when there is nothing to ask or
// to give back, or one is out already. Call it after every event.
func (s *Scheduler) Plan() *blockmgr.Reserve {
	if s.out || s.held != nil {
		return nil
	}
	r := s.next
	s.letGo(r)
	s.sure, s.passed = s.sure[:0], s.passed[:0]
	mayRun := !s.paused && len(s.flight) < s.cfg.Depth
	if mayRun && s.fresh {
		s.fresh = false
		s.choose(r)
	}
	drains := s.told < s.drainUntil && s.told < s.done
	if len(r.Forks)+len(r.Done)+len(r.Release)+len(r.Candidates)+len(s.sure) == 0 && !drains && (!mayRun || len(s.retire) == 0) {
		return nil
	}
	r.Step, r.Epoch, r.DoneStep, s.told = s.step+1, s.epoch, s.done, s.done
	s.out, s.next, s.sent = true, s.sent, r
	return r
}

// letGo releases what ended sequences hold, and marks their slots for retirement.
func (s *Scheduler) letGo(r *blockmgr.Reserve) {
	for i, q := range s.gone {
		r.Release = append(r.Release, blockmgr.Release{Slot: int32(q.slot), After: q.lastStep})
		s.drainUntil = max(s.drainUntil, q.lastStep)
		if q.lastStep == 0 { // the executor never heard of it
			s.freeSlot(q.slot)
		} else {
			s.retire = append(s.retire, q.slot)
		}
		q.slot = executor.NoSlot
		s.gone[i] = nil
	}
	s.gone = s.gone[:0]
}

// maxOffers bounds how many waiting requests are offered beside those that run.
const maxOffers = 64

// choose fills the candidates: decoding sequences, then started prompts, then the
// queue, each in line; policy PrefillFirst turns the first two round, as long as no
// started prompt lacks blocks. The oldest that the last step had no cache reads left
// for goes before all, and meanwhile nobody starts. Victims are named only when
// blocks may be short.
func (s *Scheduler) choose(r *blockmgr.Reserve) {
	c := choice{s: s, r: r, tokens: int32(s.cfg.MaxTokens), oldest: len(s.active)}
	c.unread()
	if s.cfg.Policy == PrefillFirst && !s.stuck {
		c.prompts()
		c.decodes()
	} else {
		c.decodes()
		c.prompts()
	}
	if c.needed > int32(s.free) {
		s.offerVictims(r, c.oldest)
	}
	if c.first == nil {
		s.offer(r, c.tokens)
	} else if len(s.queue) > 0 {
		s.pass(s.queue[0], Budget, 0)
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
	if q == nil || q.state != started || q.want() <= 0 {
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
		if q.decodes() && q != c.first {
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
		if !q.decodes() && q.want() > 0 && q != c.first {
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

// offer makes candidates of the oldest waiting requests, as far as slots last. One
// that is not granted keeps its slot, and blocks keep what they know of it, until
// somebody before it in line lacks one. While
// the oldest lacks blocks, nothing younger is offered. With no tokens left, only those
// at the head are that come from the host pool and compute in a later step.
func (s *Scheduler) offer(r *blockmgr.Reserve, tokens int32) {
	for i, q := range s.queue {
		if i == maxOffers {
			return
		}
		want := q.want()
		if q.hosted > 0 && s.cfg.Overlap {
			want = 0
		}
		if tokens == 0 && want > 0 {
			s.pass(q, Budget, 0)
			return
		}
		if s.crowded && i > 0 {
			s.pass(q, Behind, s.queue[0].key)
			return
		}
		if q.state == waiting {
			if len(s.slots) == 0 && !s.takeBack(r, q) {
				s.pass(q, NoSlot, 0)
				return
			}
			q.state, q.slot = offered, s.slots[len(s.slots)-1]
			s.slots = s.slots[:len(s.slots)-1]
			s.bySlot[q.slot] = q
			r.Open = append(r.Open, blockmgr.Open{Slot: int32(q.slot), IDs: q.ids})
		}
		r.Candidates = append(r.Candidates, blockmgr.Candidate{Slot: int32(q.slot), Position: q.planned, Want: want, Room: q.room(),
			MayMatch: s.cfg.Sharing, FromHost: q.hosted > 0, Epoch: q.epoch})
	}
}

// takeBack frees the slot of the last in line behind q that holds one and waits.
func (s *Scheduler) takeBack(r *blockmgr.Reserve, q *seq) bool {
	var last *seq
	for _, o := range s.bySlot {
		if o != nil && o.state == offered && inLine(o, cmp.Or(last, q)) > 0 {
			last = o
		}
	}
	if last == nil {
		return false
	}
	r.Release = append(r.Release, blockmgr.Release{Slot: int32(last.slot)})
	s.freeSlot(last.slot)
	last.state, last.slot = waiting, executor.NoSlot
	return true
}

func (s *Scheduler) blocksFor(tokens int32) int32 {
	return (tokens + int32(s.cfg.PageSize) - 1) / int32(s.cfg.PageSize)
}

func (s *Scheduler) freeSlot(slot executor.Slot) {
	s.bySlot[slot] = nil
	s.slots = append(s.slots, slot)
}
