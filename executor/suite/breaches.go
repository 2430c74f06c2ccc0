package suite

import (
	"slices"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

type breach struct {
	name   string
	change func(b *executor.Batch)
}

// breaches are beside s, which holds slot s.slot and has decoded up to s.next. The slot
// behind it is not open.
func breaches(info executor.Info, s *sequence) []breach {
	return slices.Concat([]breach{
		{"step again", func(b *executor.Batch) { b.Step-- }},
		{"epoch back", func(b *executor.Batch) { b.Epoch = 0 }},
		{"epoch not loaded", func(b *executor.Batch) { b.Epoch = 99 }},
		{"retired slot that is not open", func(b *executor.Batch) { b.Retire = []executor.Slot{s.slot + 1} }},
	}, badRows(info, s), badAdmits(info, s), badTables(info, s), badTogether(info, s))
}

// badRows are wrong rows, alone in their batch.
func badRows(info executor.Info, s *sequence) []breach {
	row := executor.Row{Slot: s.slot, Start: int32(s.next), Count: 1, Sample: true, Mask: -1}
	rows := func(change func(r *executor.Row)) func(b *executor.Batch) {
		r := row
		change(&r)
		return func(b *executor.Batch) { b.Rows = append(b.Rows, r) }
	}
	return []breach{
		{"row of a slot not open", rows(func(r *executor.Row) { r.Slot = s.slot + 1 })},
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
	}
}

// badAdmits are sequences that cannot be admitted.
func badAdmits(info executor.Info, s *sequence) []breach {
	admit := newcomer(s)
	admits := func(change func(a *executor.Admit)) func(b *executor.Batch) {
		a := admit
		change(&a)
		return func(b *executor.Batch) { b.Admit = append(b.Admit, a) }
	}
	return []breach{
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
		{"its own parent", admits(func(a *executor.Admit) { a.Parent = a.Slot })},
	}
}

// newcomer is a sequence for the slot behind that of s.
func newcomer(s *sequence) executor.Admit {
	return executor.Admit{Slot: s.slot + 1, IDs: []int32{1, 2, 3}, PromptLen: 3, Parent: executor.NoSlot}
}

// badTables are wrong changes of tables, and wrong copies.
func badTables(info executor.Info, s *sequence) []breach {
	blocks := int32(info.Groups[0].Blocks)
	tables := func(d executor.Table) func(b *executor.Batch) {
		return func(b *executor.Batch) { b.Tables = append(b.Tables, d) }
	}
	copies := func(c executor.Copy) func(b *executor.Batch) {
		return func(b *executor.Batch) { b.Copies = append(b.Copies, c) }
	}
	return []breach{
		{"table of a slot not open", tables(executor.Table{Slot: s.slot + 1, Blocks: []int32{0}})},
		{"block that is not there", tables(executor.Table{Slot: s.slot, Blocks: []int32{blocks}})},
		{"negative block", tables(executor.Table{Slot: s.slot, Blocks: []int32{-1}})},
		{"table with a hole", tables(executor.Table{Slot: s.slot, Index: int32(len(s.tables[0])) + 1, Blocks: []int32{0}})},
		{"negative index", tables(executor.Table{Slot: s.slot, Index: -1, Blocks: []int32{0}})},
		{"group that is not there", tables(executor.Table{Slot: s.slot, Group: int32(len(info.Groups)), Blocks: []int32{0}})},
		{"copy to nowhere", copies(executor.Copy{From: 0, To: blocks})},
		{"copy of a block to itself", copies(executor.Copy{From: 1, To: 1})},
	}
}

// badTogether are rows that do not go with the sequence that comes with them.
func badTogether(info executor.Info, s *sequence) []breach {
	admit := newcomer(s)
	return []breach{
		{"row without blocks", func(b *executor.Batch) {
			b.Admit = []executor.Admit{admit}
			b.Rows = []executor.Row{{Slot: admit.Slot, Count: 3, Sample: true, Mask: -1}}
		}},
		{"sample before the last id", func(b *executor.Batch) {
			b.Admit = []executor.Admit{admit}
			b.Tables = lastBlocks(info, admit.Slot)
			b.Rows = []executor.Row{{Slot: admit.Slot, Count: 2, Sample: true, Mask: -1}}
		}},
		{"more tokens than a step has", func(b *executor.Batch) {
			b.Admit = []executor.Admit{admit}
			b.Tables = lastBlocks(info, admit.Slot)
			b.Rows = []executor.Row{{Slot: admit.Slot, Count: int32(info.MaxTokens) + 1, Mask: -1}}
		}},
	}
}

// lastBlocks give a slot a block of every group.
func lastBlocks(info executor.Info, slot executor.Slot) (tables []executor.Table) {
	for g := range info.Groups {
		tables = append(tables, executor.Table{Slot: slot, Group: int32(g), Blocks: []int32{int32(info.Groups[g].Blocks) - 1}})
	}
	return tables
}
