package actors

import (
	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/trace"
	"github.com/cbactor/cbactor/sched"
)

// share is what a plan gives one slot.
type share struct {
	matched int32 // positions found in shared blocks
	start   int32 // position of its next row
	blocks  int32 // gained, in the group that gained most
	ahead   int32 // likewise, in the step before
	admit   bool
	parent  executor.Slot // of a fork
}

// planned notes who is given up in a plan, and who is not in it and why.
func (t *tracer) planned(core *sched.Scheduler, rd *blockmgr.Reserved) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range rd.Preempted {
		p := &rd.Preempted[i]
		t.preempted(core.KeyOf(p.Slot), core.KeyOf(p.For), rd.Step, p)
	}
	t.waits = core.Waits(rd, t.waits[:0])
	for _, w := range t.waits {
		t.waited(w)
	}
	for i := range rd.Grants {
		g := &rd.Grants[i]
		s := &t.shares[g.Slot]
		s.matched, s.start = g.Matched, g.Start
	}
}

func (t *tracer) preempted(victim, by sched.Key, step uint64, p *blockmgr.Preempted) {
	r := t.open[victim]
	if r == nil {
		return
	}
	r.waiting, r.wait = true, sched.Wait{}
	t.waiting++
	how := trace.Recompute
	if p.How == blockmgr.ToHost {
		how = trace.ToHost
	}
	t.rec.Add(trace.Event{Kind: trace.Preempted, ID: r.id, Step: step, For: t.name(by), How: how, Blocks: int(p.Had)})
}

// serving notes the weights that the next plan computes with, if they are others than
// before, and whose cache is computed again with them.
func (t *tracer) serving(core *sched.Scheduler) {
	if t == nil || core.Serving() == t.epoch {
		return
	}
	t.epoch = core.Serving()
	e := trace.Event{Kind: trace.Weights, Epoch: t.epoch}
	if t.version != nil {
		e.Version = t.version(t.epoch)
	}
	t.rec.Add(e)
	t.gaveUp(core.Renewed(), core.Step(), trace.Renewed)
}

// gaveUp notes whom the cache was taken from, behind a step, but for others' sake.
func (t *tracer) gaveUp(keys []sched.Key, step uint64, why trace.Why) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range keys {
		r := t.open[k]
		if r == nil {
			continue
		}
		if !r.waiting {
			r.waiting = true
			t.waiting++
		}
		r.wait = sched.Wait{}
		t.rec.Add(trace.Event{Kind: trace.Preempted, ID: r.id, Step: step, Why: why, How: trace.Recompute})
	}
}

// whys are the names of the reasons.
var whys = [...]trace.Why{sched.NoSlot: trace.NoSlot, sched.NoRoom: trace.NoRoom, sched.Behind: trace.Behind, sched.Page: trace.Page, sched.Budget: trace.Budget}

// waited notes a wait whose reason is not that of the one before. How many blocks
// are missing is no reason of its own: it changes with every step.
func (t *tracer) waited(w sched.Wait) {
	r := t.open[w.Key]
	if r == nil || r.wait.Why == w.Why && r.wait.On == w.On {
		return
	}
	r.wait = w
	t.rec.Add(trace.Event{Kind: trace.Waits, ID: r.id, Why: whys[w.Why], On: t.name(w.On), Missing: int(w.Missing)})
}

// name is the id of an open request, "" of one that has ended.
func (t *tracer) name(k sched.Key) string {
	if r := t.open[k]; r != nil {
		return r.id
	}
	return ""
}

// handedOver notes who is started by a batch, and what it computes.
func (t *tracer) handedOver(core *sched.Scheduler, b *executor.Batch) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range b.Admit {
		s := &t.shares[a.Slot]
		*s = share{matched: s.matched, start: s.start, admit: true, parent: a.Parent}
	}
	for i := range b.Tables {
		s := &t.shares[b.Tables[i].Slot]
		s.blocks = max(s.blocks, int32(len(b.Tables[i].Blocks)))
	}
	tokens := int32(0)
	for i := range b.Rows {
		tokens += b.Rows[i].Count
	}
	for i := range b.Rows {
		row := &b.Rows[i]
		s := t.shares[row.Slot]
		t.shares[row.Slot] = share{}
		r := t.open[core.KeyOf(int32(row.Slot))]
		if r == nil {
			continue
		}
		if s.admit {
			t.started(core, r, b.Step, row.Start, s)
		}
		r.wait = sched.Wait{}
		if row.Count > 0 { // a fork samples from what its parent computed
			t.rec.Add(trace.Event{Kind: trace.Chunk, ID: r.id, Step: b.Step, Epoch: b.Epoch, Start: int(row.Start), Count: int(row.Count),
				Blocks: int(s.ahead + s.blocks), Rows: len(b.Rows), Tokens: int(tokens)})
		}
	}
	for _, a := range b.Admit {
		s := &t.shares[a.Slot]
		if r := t.open[core.KeyOf(int32(a.Slot))]; s.admit && r != nil { // its cache comes a step before its row
			t.started(core, r, b.Step, s.start, *s)
			s.ahead, s.blocks = s.blocks, 0
		}
		s.admit = false
	}
}

// started notes that a request is in a step for the first time, or again. What comes
// before the start of its first row and was not found comes from the host pool.
func (t *tracer) started(core *sched.Scheduler, r *traced, step uint64, start int32, s share) {
	e := trace.Event{Kind: trace.Started, ID: r.id, Step: step, Cached: int(s.matched), FromHost: int(start - s.matched)}
	switch {
	case s.parent != executor.NoSlot:
		e.Kind, e.Of, e.Cached, e.FromHost = trace.Forked, t.name(core.KeyOf(int32(s.parent))), int(start), 0
	case r.again:
		e.Kind = trace.Back
	}
	if r.waiting {
		r.waiting = false
		t.waiting--
	}
	r.again = true
	t.rec.Add(e)
}
