package executor

import (
	"fmt"

	"github.com/cbactor/cbactor/sampling"
)

// echoSlot is one sequence.
type echoSlot struct {
	ids      []int32
	prompt   int32     // of ids, how many are prompt
	tables   [][]int32 // per group
	sampling sampling.Params
	seed     uint64
	child    int32
	parent   Slot
	adapter  string
	err      error // of the row that failed: later rows have no token to go on from
}

// run does a step. All rows write before any row reads: a row that overwrites
// what another one needs is noticed whatever their order.
func (e *Echo) run(b *Batch, r *Result) error {
	for i := range b.Admit {
		e.admit(&b.Admit[i])
	}
	for _, d := range b.Tables {
		copy(e.slots[d.Slot].tables[d.Group][d.Index:], d.Blocks)
	}
	e.copies(b, false)
	for _, row := range b.Rows {
		if err := e.write(row, b); err != nil {
			return err
		}
	}
	for _, row := range b.Rows {
		if err := e.read(row, b.Step, r.Add(row.Slot)); err != nil {
			return err
		}
		r.Tokens += row.Count
	}
	e.copies(b, true)
	// Sampled ids join their sequences last, for a fork reads its parent's.
	for i := range r.Rows {
		s := &e.slots[r.Rows[i].Slot]
		s.ids = append(s.ids, r.Rows[i].Tokens...)
	}
	return nil
}

// copies makes those that run before the rows, or those behind them.
func (e *Echo) copies(b *Batch, behind bool) {
	for _, c := range b.Copies {
		if late := e.config.Overlap && c.Kind == CopyIn; late == behind {
			if c.Kind != CopyOut {
				e.enter(int(c.Group), c.To)
			}
			e.caches[c.Group].copy(c)
		}
	}
}

// enter makes the sector of a block that is written the group's: what others had there
// is lost.
func (e *Echo) enter(g int, block int32) {
	if e.config.Sectors == 0 {
		return
	}
	i := int(block) / e.config.PerSector[g]
	if e.owner[i] == g {
		return
	}
	e.owner[i] = g
	for o := range e.caches {
		if kvs := e.config.PerSector[o] * e.config.PageSize; o != g {
			poison(e.caches[o].kvs[i*kvs:][:kvs])
		}
	}
}

func (e *Echo) admit(a *Admit) {
	s := &e.slots[a.Slot]
	*s = echoSlot{
		ids: append(s.ids[:0], a.IDs...), prompt: a.PromptLen, tables: s.tables,
		sampling: a.Sampling, seed: a.Seed, child: a.Child, parent: a.Parent, adapter: a.Adapter,
	}
}

func (e *Echo) write(row Row, b *Batch) error {
	s := &e.slots[row.Slot]
	if s.err != nil {
		return nil
	}
	for g := range e.caches {
		for p := int(row.Start); p < int(row.Start+row.Count); p++ {
			e.enter(g, s.tables[g][p/e.config.PageSize])
			if err := e.caches[g].write(s.tables[g], p, kv{id: s.ids[p], pos: int32(p), epoch: b.Epoch, adapter: s.adapter, step: b.Step, writer: row.Slot}); err != nil {
				return fmt.Errorf("group %d: %w", g, err)
			}
		}
	}
	return nil
}

// read looks at all that the row attends to, sums what its last position does, and
// samples and scores if asked.
func (e *Echo) read(row Row, step uint64, out *RowResult) error {
	s, source := &e.slots[row.Slot], row.Slot
	if row.Count == 0 {
		source = s.parent
	}
	if s.err != nil {
		out.Fail(s.err)
		return nil
	}
	n := int(row.Start + row.Count)
	sum, err := e.sum(source, int(row.Start), n, step)
	if err == nil && row.PromptLogprobs {
		err = e.score(s, row, step, out)
	}
	if err != nil || !row.Sample {
		return err
	}
	e.sample(s, int32(sum), out)
	return nil
}

// sum is the formula of Echo over the first n KV slots of a sequence. It reads what
// positions from start on attend to.
func (e *Echo) sum(slot Slot, start, n int, step uint64) (uint64, error) {
	s, vocab, sum := &e.slots[slot], uint64(e.config.Vocab), uint64(0)
	further := EchoAdapter(s.adapter)
	for g := range e.caches {
		c := &e.caches[g]
		last := windowStart(n-1, c.window)
		for p := min(last, windowStart(start, c.window)); p < n; p++ {
			k, err := c.read(s.tables[g], p, s.ids[p], s.adapter, slot, step)
			if err != nil {
				return 0, fmt.Errorf("group %d: %w", g, err)
			}
			if p >= last {
				sum += echoTerm(k.id, p, k.epoch+further, g, vocab)
			}
		}
	}
	return sum % vocab, nil
}
