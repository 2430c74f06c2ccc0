package sched

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// ErrProtocol is the class of an event that cannot happen: a bug of the caller.
var ErrProtocol = errors.New("sched: event breaks the protocol")

// Policy is the order in which requests are served.
type Policy uint8

const (
	// FIFO gives every decoding sequence its token first, then started prompts,
	// then the waiting, each by age.
	FIFO Policy = iota
	// PrefillFirst gives started prompts their chunks before decoding sequences
	// their tokens.
	PrefillFirst
	// Priority is FIFO, but a request counts as if it had come AgePerLevel requests
	// earlier for each level of its priority. So it ages: fewer than
	// AgePerLevel younger requests go before it for each level between them.
	Priority
)

// Policies are the names of the policies, as configurations have them.
var Policies = map[string]Policy{"fifo": FIFO, "prefill_first": PrefillFirst, "priority": Priority}

// AgePerLevel is how many requests' worth of age one level of priority is.
const AgePerLevel = 64

// Config bounds the plans.
type Config struct {
	Policy    Policy
	MaxTokens int     // tokens a step
	MaxReads  int     // cache positions that a step's rows read, 0: any number; one row always goes
	MaxSlots  int     // sequences started at a time, at most MaxTokens
	PageSize  int     // tokens of a block
	Blocks    int     // blocks that every cache group can have at the same time
	Depth     int     // batches in flight at most, 1 or 2
	Margin    float64 // share of the blocks that a new request leaves free for the growth of those that run

	Host     int     // blocks of the host pool, 0: none. Who is given up may go there while it lasts
	CopyCost float64 // see executor.Info: at 1 or more, nobody goes there
	Overlap  bool    // see executor.Info: who comes back gets its cache a step before its first row

	Epoch   uint32 // of the weights at first, 0: 1
	Version uint32 // of them, see Commit

	Sharing bool // requests may take each other's published blocks
}

// Scheduler is the state of all requests between intake and executor.
type Scheduler struct {
	cfg     Config
	serving Commit   // in force
	commits []Commit // will be, when no plan is on its way
	changes int      // commits that were put in force
	single  []Run    // of a cache that the weights in force compute from its beginning
	ends    []Item   // whom commits have ended
	renewed []Key    // whose cache the last commits gave up
	heard   uint32   // the epoch that blocks were last told

	gate gate
	step uint64 // last step handed over
	done uint64 // last step done

	begun  int // sequences that were started and have not ended, and those to be forked from them
	urgent int // sequences that are, and have not ended

	byKey   map[Key]*seq
	users   map[string]int // by adapter, of byKey
	queue   []*seq         // waiting, oldest first
	active  []*seq         // started, oldest first
	leaving []*seq         // given up, a step with them in flight

	slots   []executor.Slot // free, taken from the end
	bySlot  []*seq          // who holds or last held a slot that is not free
	gone    []*seq          // ended with a slot: to be released and retired
	retire  []executor.Slot // to be named in the next batch
	retired []retired       // named by a batch in flight

	next, sent *blockmgr.Reserve // being filled; out or spare
	out        bool              // sent is out
	crowded    bool              // the oldest waiting request was refused for lack of blocks
	stuck      bool              // a started prompt was
	unread     *seq              // the oldest started one that the last step had no cache reads left for
	sure       []*seq            // decode rows of sent that need no block
	passed     []Wait            // who could run and is no candidate of sent
	free       int               // blocks free when last told, a lower bound since
	told       uint64            // the last step that blocks know to be done
	drainUntil uint64            // the last step that a release waits for
	fresh      bool              // something changed since the last choice of candidates
	victims    []victim          // scratch

	host int            // blocks free in the host pool
	swap *blockmgr.Swap // being filled
	held *batch         // waits for its copies to and from the host

	flight []*batch // handed over, oldest first
	spare  []*batch
}

type retired struct {
	slot executor.Slot
	step uint64
}

// batch is a Batch and the memory its tables point into.
type batch struct {
	executor.Batch
	blocks  []int32
	changes int // commits before it
}

// New makes an empty scheduler. It is born shut: nothing is planned before Resume.
func New(cfg Config) *Scheduler {
	epoch := max(1, cfg.Epoch)
	s := &Scheduler{cfg: cfg, serving: Commit{Epoch: epoch, Version: cfg.Version}, single: []Run{{Epoch: epoch}}, heard: epoch, free: cfg.Blocks, host: cfg.Host, swap: new(blockmgr.Swap),
		byKey: map[Key]*seq{}, users: map[string]int{}, bySlot: make([]*seq, cfg.MaxSlots), next: new(blockmgr.Reserve), sent: new(blockmgr.Reserve)}
	for i := cfg.MaxSlots - 1; i >= 0; i-- {
		s.slots = append(s.slots, executor.Slot(i))
	}
	return s
}

// Submit queues a request behind all older ones.
func (s *Scheduler) Submit(r Submit) error {
	if len(r.IDs) == 0 || r.MaxNew < 0 || r.N < 0 || r.MaxNew == 0 && r.N > 1 || s.byKey[r.Key] != nil {
		return fmt.Errorf("%w: request %d has no tokens, no room, several sequences to draw nothing for, or a key in use", ErrProtocol, r.Key)
	}
	q := s.add(r, 0)
	s.queue = insert(s.queue, q)
	for child := int32(1); child < r.N; child++ {
		c := s.add(r, child)
		c.state, c.parent = unborn, q
		q.children = append(q.children, c)
	}
	s.fresh = true
	if r.Version > s.newest().Version { // it was said before the way back came
		for _, c := range slices.Clone(q.children) {
			s.finish(c, Stale)
		}
		s.finish(q, Stale)
	}
	return nil
}

// add makes sequence number child of a request.
func (s *Scheduler) add(r Submit, child int32) *seq {
	q := &seq{key: r.Key + Key(child), rank: s.rank(r), child: child, ids: r.IDs[:len(r.IDs):len(r.IDs)], prompt: int32(len(r.IDs)), limit: int32(len(r.IDs)) + r.MaxNew,
		eos: r.EOS, private: r.Private, urgent: r.Urgent, salt: r.Salt, adapter: r.Adapter, sampling: r.Sampling, seed: r.Seed,
		kv: r.KV, version: r.Version, commits: r.Commits, first: noToken, slot: executor.NoSlot}
	s.byKey[q.key] = q
	s.useAdapter(q.adapter, 1)
	if q.urgent {
		s.urgent++
	}
	return q
}

// rank is a request's place in line.
func (s *Scheduler) rank(r Submit) int64 {
	switch {
	case r.Urgent:
		return int64(r.Key) - beforeAll
	case s.cfg.Policy == Priority:
		return int64(r.Key) - int64(r.Priority)*AgePerLevel
	}
	return int64(r.Key)
}

// beforeAll is more than the ranks of any two requests that are not urgent differ by.
const beforeAll = 1 << 62

// Cancel drops a request wherever it is. An unknown key is harmless. Rows of it
// that were handed over run; their tokens are not reported.
func (s *Scheduler) Cancel(k Key) {
	if q := s.byKey[k]; q != nil {
		s.end(q)
	}
}

// Quiet tells that no Reserve is out and no batch in flight.
func (s *Scheduler) Quiet() bool { return !s.out && s.held == nil && len(s.flight) == 0 }

// Step is the number of the last step handed over.
func (s *Scheduler) Step() uint64 { return s.step }

// Load is the number of requests that wait and that are started.
func (s *Scheduler) Load() (waiting, started int) {
	return len(s.queue) + len(s.leaving), len(s.active)
}

// end takes a sequence out of every list. What it holds is released by the next Plan.
func (s *Scheduler) end(q *seq) {
	switch q.state {
	case waiting, offered:
		s.queue = remove(s.queue, q)
	case started:
		s.active = remove(s.active, q)
	case leaving:
		s.leaving = remove(s.leaving, q)
	case unborn:
		q.parent.children = slices.DeleteFunc(q.parent.children, func(c *seq) bool { return c == q })
	}
	delete(s.byKey, q.key)
	s.useAdapter(q.adapter, -1)
	s.uncount(q)
	s.orphan(q)
	if q.hosted > 0 {
		s.dropHosted(q)
	}
	if q.slot != executor.NoSlot {
		s.gone = append(s.gone, q)
	}
	q.state = ended
	s.fresh = true
}

// insert puts q into a list that is ordered by place in line.
func insert(list []*seq, q *seq) []*seq {
	i, _ := slices.BinarySearchFunc(list, q, inLine)
	return slices.Insert(list, i, q)
}

// remove takes q out of an ordered list. The head goes without moving the rest.
func remove(list []*seq, q *seq) []*seq {
	i, ok := slices.BinarySearchFunc(list, q, inLine)
	switch {
	case !ok:
		return list
	case i == 0:
		list[0] = nil
		return list[1:]
	}
	return slices.Delete(list, i, i+1)
}

func inLine(a, b *seq) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.key, b.key))
}
