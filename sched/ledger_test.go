package sched

import (
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// ledger follows every block by what is granted, handed over and done, without a
// look into the books: who holds it, which step in flight may touch it, and what
// was written there.
type ledger struct {
	t      failer
	page   int32
	blocks int
	tables map[int32][]int32 // per slot
	flight []touched         // per batch in flight
	pages  []page            // per block
	host   []int32           // per block of the host pool: positions of it that are written
}

// touched is what a batch in flight names.
type touched struct {
	step   uint64
	blocks []int32
}

// page is what was last written to a block.
type page struct {
	step uint64 // that wrote it
	upto int32  // positions of it that are written
}

func newLedger(t failer, pageSize, blocks, host int) *ledger {
	return &ledger{t: t, page: int32(pageSize), blocks: blocks, tables: map[int32][]int32{}, pages: make([]page, blocks), host: make([]int32, host)}
}

// answered applies a Reserve and its answer to the tables. A block that is new to a
// slot is either found published, and then written whole by steps that were done
// when it was asked for, or it is nobody else's and no step in flight names it.
func (l *ledger) answered(r *blockmgr.Reserve, out *blockmgr.Reserved) {
	l.t.Helper()
	for _, f := range r.Forks {
		l.tables[f.Slot] = slices.Clone(l.tables[f.Parent][:l.blocksFor(int32(len(f.IDs)))])
	}
	for _, rel := range r.Release {
		delete(l.tables, rel.Slot)
	}
	for _, p := range out.Preempted {
		delete(l.tables, p.Slot)
	}
	for i := range out.Grants {
		g := &out.Grants[i]
		if g.Count < 1 && !ahead(r, g) {
			l.t.Fatalf("slot %d is granted %d tokens", g.Slot, g.Count)
		}
		for _, a := range g.New {
			for k, b := range a.Blocks {
				l.gains(g, a.Index+int32(k), b, r.DoneStep)
			}
		}
		if have := int32(len(l.tables[g.Slot])); have < l.blocksFor(g.Start+g.Count) {
			l.t.Fatalf("slot %d has %d blocks for %d tokens", g.Slot, have, g.Start+g.Count)
		}
	}
}

// ahead tells whether a grant is for who comes back from the host before its row.
func ahead(r *blockmgr.Reserve, g *blockmgr.Grant) bool {
	return g.Count == 0 && slices.ContainsFunc(r.Candidates, func(c blockmgr.Candidate) bool { return c.Slot == g.Slot && c.FromHost && c.Want == 0 })
}

// gains puts block b at index i of a slot's table.
func (l *ledger) gains(g *blockmgr.Grant, i, b int32, done uint64) {
	l.t.Helper()
	table := l.tables[g.Slot]
	switch {
	case i < int32(len(table)) && table[i] == b: // a fork's, which the executor hears of now
		return
	case i < g.Matched/l.page:
		if p := l.pages[b]; p.upto < l.page || p.step > done {
			l.t.Fatalf("slot %d takes block %d as published, which step %d wrote up to %d, and step %d is done", g.Slot, b, p.step, p.upto, done)
		}
	default:
		l.isFree(g.Slot, b)
	}
	if i < int32(len(table)) { // the copy of a fork's last block
		table[i] = b
		return
	}
	l.tables[g.Slot] = append(table, b)
}

// isFree wants b to be in no table and in no batch in flight.
func (l *ledger) isFree(slot, b int32) {
	l.t.Helper()
	for other, t := range l.tables {
		if slices.Contains(t, b) {
			l.t.Fatalf("slot %d is granted block %d of slot %d", slot, b, other)
		}
	}
	for _, f := range l.flight {
		if slices.Contains(f.blocks, b) {
			l.t.Fatalf("slot %d is granted block %d while step %d may touch it", slot, b, f.step)
		}
	}
}

// handed notes what a batch touches and writes.
func (l *ledger) handed(b *executor.Batch) {
	f := touched{step: b.Step}
	for _, c := range b.Copies {
		switch c.Kind {
		case executor.CopyOut: // done before this step or a later one writes there
			l.host[c.To] = l.pages[c.From].upto
		case executor.CopyIn:
			f.blocks = append(f.blocks, c.To)
			l.pages[c.To] = page{b.Step, l.host[c.From]}
		default:
			f.blocks = append(f.blocks, c.From, c.To)
			l.pages[c.To] = page{b.Step, l.pages[c.From].upto}
		}
	}
	for _, row := range b.Rows {
		table := l.tables[int32(row.Slot)]
		f.blocks = append(f.blocks, table...)
		for p := row.Start; p < row.Start+row.Count; p++ {
			l.pages[table[p/l.page]] = page{b.Step, p%l.page + 1}
		}
	}
	l.flight = append(l.flight, f)
}

func (l *ledger) done(step uint64) {
	l.flight = slices.DeleteFunc(l.flight, func(f touched) bool { return f.step <= step })
}

// room is the number of blocks that no table holds.
func (l *ledger) room() int {
	held := make([]bool, l.blocks)
	room := l.blocks
	for _, t := range l.tables {
		for _, b := range t {
			if !held[b] {
				held[b] = true
				room--
			}
		}
	}
	return room
}

func (l *ledger) blocksFor(tokens int32) int32 { return (tokens + l.page - 1) / l.page }
