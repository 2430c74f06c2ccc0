package suite

import (
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// plan is a step handed over.
type plan struct {
	batch executor.Batch
	rows  []*sequence
	ended []*sequence // retired by the step
}

type sequence struct {
	*request
	slot     executor.Slot
	next     int       // position that the next row starts at
	promised int       // tokens sampled or to be sampled by steps handed over
	tables   [][]int32 // per cache group
	out      []int32
	drawn    []sampling.Drawn // of out, if told
	prompt   []sampling.Drawn // of the prompt, likewise
	logits   [][]uint32       // bits, per token of out, where the executor shows them
	err      error
}

func (d *driver) newPlan() *plan {
	d.step++
	return &plan{batch: executor.Batch{Step: d.step, Epoch: d.epoch}}
}

// admit opens a slot for r.
func (d *driver) admit(b *executor.Batch, r *request) *sequence {
	s := &sequence{request: r, slot: d.slots[0], tables: make([][]int32, len(d.info.Groups))}
	d.slots = d.slots[1:]
	b.Admit = append(b.Admit, executor.Admit{
		Slot: s.slot, IDs: r.ids, PromptLen: int32(r.prompted()),
		Sampling: r.sampling, Seed: r.seed, Child: r.child, Adapter: r.adapter, Parent: executor.NoSlot,
	})
	d.active = append(d.active, s)
	return s
}

// addRows gives every active sequence a row as far as the budget goes, and
// retires those that have their last row.
func (d *driver) addRows(b *plan, chunk int) {
	budget := d.info.MaxTokens
	var left []*sequence
	for _, s := range d.active {
		count := min(max(1, min(chunk, len(s.ids)-s.next)), budget)
		if count > 0 {
			budget -= count
			d.addRow(b, s, count)
		}
		if s.promised < s.n || s.next < len(s.ids) {
			left = append(left, s)
			continue
		}
		b.batch.Retire = append(b.batch.Retire, s.slot)
		b.ended = append(b.ended, s)
	}
	d.active = left
}

func (d *driver) addRow(b *plan, s *sequence, count int) {
	end := s.next + count
	d.extend(&b.batch, s, end)
	row := executor.Row{
		Slot: s.slot, Start: int32(s.next), Count: int32(count), Sample: end >= len(s.ids) && s.n > 0, Mask: -1,
		PromptLogprobs: s.sampling.Tell.Prompt && s.next < len(s.ids),
	}
	b.batch.Rows = append(b.batch.Rows, row)
	b.rows = append(b.rows, s)
	s.next = end
	if row.Sample {
		s.promised++
	}
}

// extend gives s blocks for n tokens.
func (d *driver) extend(b *executor.Batch, s *sequence, n int) {
	for g, table := range s.tables {
		missing := (n+d.info.PageSize-1)/d.info.PageSize - len(table)
		if missing <= 0 {
			continue
		}
		blocks := d.blocks.take(g, missing)
		b.Tables = append(b.Tables, executor.Table{Slot: s.slot, Group: int32(g), Index: int32(len(table)), Blocks: blocks})
		s.tables[g] = append(table, blocks...)
	}
}
