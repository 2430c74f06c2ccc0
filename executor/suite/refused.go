package suite

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// testRefused sends batches that break the contract between good ones. Each is
// an error at Start, and the sequence beside it does not notice.
func testRefused(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := prompts(d.info, 5)
	want := tokens(t, d.run(requests, alone))

	p := d.newPlan()
	s := d.admit(&p.batch, &requests[0])
	d.addRows(p, 5)
	d.start(p)
	d.finish()
	for _, c := range slices.Concat(breaches(d.info, s), hostBreaches(d.info)) {
		b := executor.Batch{Step: d.step + 1, Epoch: 1}
		c.change(&b)
		if err := d.ex.Start(&b); !errors.Is(err, executor.ErrContract) {
			t.Errorf("%s: Start answers %v, want ErrContract", c.name, err)
		}
	}
	d.run(nil, policy{chunk: 1, ahead: 1})
	same(t, "beside refused batches", [][]int32{s.out}, want)
	testOutstanding(t, d)
}

// testOutstanding hands over one step too many.
func testOutstanding(t *testing.T, d *driver) {
	for range d.info.MaxOutstanding {
		d.start(d.newPlan())
	}
	extra := d.newPlan()
	if err := d.ex.Start(&extra.batch); !errors.Is(err, executor.ErrContract) {
		t.Errorf("a step too many: Start answers %v, want ErrContract", err)
	}
	for range d.info.MaxOutstanding {
		d.finish()
	}
}

type breach struct {
	name   string
	change func(b *executor.Batch)
}

// breaches are beside s, which holds slot s.slot and has decoded up to s.next.
func breaches(info executor.Info, s *sequence) []breach {
	other, next := s.slot+1, int32(s.next)
	row := executor.Row{Slot: s.slot, Start: next, Count: 1, Sample: true, Mask: -1}
	admit := executor.Admit{Slot: other, IDs: []int32{1, 2, 3}, PromptLen: 3, Parent: executor.NoSlot}
	rows := func(change func(r *executor.Row)) func(b *executor.Batch) {
		r := row
		change(&r)
		return func(b *executor.Batch) { b.Rows = append(b.Rows, r) }
	}
	admits := func(change func(a *executor.Admit)) func(b *executor.Batch) {
		a := admit
		change(&a)
		return func(b *executor.Batch) { b.Admit = append(b.Admit, a) }
	}
	tables := func(d executor.Table) func(b *executor.Batch) {
		return func(b *executor.Batch) { b.Tables = append(b.Tables, d) }
	}
	copies := func(c executor.Copy) func(b *executor.Batch) {
		return func(b *executor.Batch) { b.Copies = append(b.Copies, c) }
	}
	blocks := int32(info.Groups[0].Blocks)
	return slices.Concat([]breach{
		{"step again", func(b *executor.Batch) { b.Step-- }},
		{"epoch back", func(b *executor.Batch) { b.Epoch = 0 }},
		{"epoch not loaded", func(b *executor.Batch) { b.Epoch = 99 }},
		{"retired slot that is not open", func(b *executor.Batch) { b.Retire = []executor.Slot{other} }},
	}, []breach{
		{"row of a slot not open", rows(func(r *executor.Row) { r.Slot = other })},
		{"row of no slot", rows(func(r *executor.Row) { r.Slot = executor.NoSlot })},
		{"row of a slot too large", rows(func(r *executor.Row) { r.Slot = executor.Slot(info.MaxSlots) })},
		{"row with a gap", rows(func(r *executor.Row) { r.Start++ })},
		{"row again", rows(func(r *executor.Row) { r.Start--; r.Sample = false })},
		{"row from before 0", rows(func(r *executor.Row) { r.Start = -1 })},
		{"row beyond the known ids", rows(func(r *executor.Row) { r.Count = 2 })},
		{"row of negative count", rows(func(r *executor.Row) { r.Count = -1 })},
		{"row of no token", rows(func(r *executor.Row) { r.Count = 0 })},
		{"mask that is not there", rows(func(r *executor.Row) { r.Mask = 0 })},
		{"two rows of a slot", func(b *executor.Batch) { b.Rows = []executor.Row{row, row} }},
	}, []breach{
		{"slot open already", admits(func(a *executor.Admit) { a.Slot = s.slot })},
		{"slot too large", admits(func(a *executor.Admit) { a.Slot = executor.Slot(info.MaxSlots) })},
		{"no ids", admits(func(a *executor.Admit) { a.IDs = nil })},
		{"id outside the vocabulary", admits(func(a *executor.Admit) { a.IDs = []int32{0, 0, int32(info.Vocab)} })},
		{"negative id", admits(func(a *executor.Admit) { a.IDs = []int32{0, -1, 0} })},
		{"ids beyond the context", admits(func(a *executor.Admit) { a.IDs = make([]int32, info.MaxContext+1) })},
		{"no prompt", admits(func(a *executor.Admit) { a.PromptLen = 0 })},
		{"prompt longer than the ids", admits(func(a *executor.Admit) { a.PromptLen = 4 })},
		{"negative child", admits(func(a *executor.Admit) { a.Child = -1 })},
		{"bad sampling", admits(func(a *executor.Admit) { a.Sampling = sampling.Params{Temperature: -1} })},
		{"sampling outside the vocabulary", admits(func(a *executor.Admit) { a.Sampling = sampling.Params{Allowed: []int32{int32(info.Vocab)}} })},
		{"its own parent", admits(func(a *executor.Admit) { a.Parent = other })},
	}, []breach{
		{"table of a slot not open", tables(executor.Table{Slot: other, Blocks: []int32{0}})},
		{"block that is not there", tables(executor.Table{Slot: s.slot, Blocks: []int32{blocks}})},
		{"negative block", tables(executor.Table{Slot: s.slot, Blocks: []int32{-1}})},
		{"table with a hole", tables(executor.Table{Slot: s.slot, Index: int32(len(s.table)) + 1, Blocks: []int32{0}})},
		{"negative index", tables(executor.Table{Slot: s.slot, Index: -1, Blocks: []int32{0}})},
		{"group that is not there", tables(executor.Table{Slot: s.slot, Group: 1, Blocks: []int32{0}})},
		{"copy to nowhere", copies(executor.Copy{From: 0, To: blocks})},
		{"copy of a block to itself", copies(executor.Copy{From: 1, To: 1})},
	}, []breach{
		{"row without blocks", func(b *executor.Batch) {
			b.Admit = []executor.Admit{admit}
			b.Rows = []executor.Row{{Slot: other, Count: 3, Sample: true, Mask: -1}}
		}},
		{"sample before the last id", func(b *executor.Batch) {
			b.Admit = []executor.Admit{admit}
			b.Tables = []executor.Table{{Slot: other, Blocks: []int32{blocks - 1}}}
			b.Rows = []executor.Row{{Slot: other, Count: 2, Sample: true, Mask: -1}}
		}},
		{"more tokens than a step has", func(b *executor.Batch) {
			b.Admit = []executor.Admit{admit}
			b.Tables = []executor.Table{{Slot: other, Blocks: []int32{blocks - 1}}}
			b.Rows = []executor.Row{{Slot: other, Count: int32(info.MaxTokens) + 1, Mask: -1}}
		}},
	})
}
