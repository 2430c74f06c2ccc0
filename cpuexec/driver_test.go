package cpuexec

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// sequence is one sequence that a driver runs.
type sequence struct {
	ids      []int32 // grows
	prompt   int
	limit    int // tokens to generate
	sampling sampling.Params
	seed     uint64
	adapter  string
	logits   [][]float32 // one row per generated token
	drawn    []sampling.Drawn
	scores   []sampling.Drawn // of the prompt
	err      error

	slot executor.Slot
	next int
}

// out is what was generated.
func (s *sequence) out() []int32 { return s.ids[s.prompt:] }

// driver runs sequences through an executor, a step at a time, blocks in an order
// of its own.
type driver struct {
	t     testing.TB
	e     *Executor
	chunk int  // most prompt tokens of a row
	keep  bool // logits and what is told
	step  uint64
	epoch uint32
	free  [][]int32 // blocks, per group
	seqs  map[executor.Slot]*sequence
}

// newDriver makes an executor whose logits, and what it tells, the driver keeps, if
// keep is set.
func newDriver(t testing.TB, cfg Config, chunk int, keep bool) *driver {
	t.Helper()
	d := &driver{t: t, chunk: chunk, keep: keep, epoch: 1, seqs: map[executor.Slot]*sequence{}}
	if keep {
		cfg.KeepLogits = func(slot, pos int, logits []float32) {
			s := d.seqs[executor.Slot(slot)]
			s.logits = append(s.logits, slices.Clone(logits))
		}
	}
	d.e = start(t, cfg)
	for g, group := range d.e.Info().Groups {
		d.free = append(d.free, nil)
		for b := range group.Blocks {
			if per := group.PerSector; per == 0 || b/per%len(d.e.Info().Groups) == g { // sectors in turn
				d.free[g] = append(d.free[g], int32(b))
			}
		}
	}
	return d
}

// run generates all sequences together.
func (d *driver) run(seqs ...*sequence) {
	d.t.Helper()
	var b executor.Batch
	var r executor.Result
	for live := slices.Clone(seqs); len(live) > 0; {
		b.Reset()
		d.step++
		b.Step, b.Epoch = d.step, d.epoch
		budget := d.e.Info().MaxTokens
		for i, s := range live {
			if s.next == 0 {
				d.admit(&b, s, executor.Slot(slices.Index(seqs, s)))
			}
			budget -= d.row(&b, s, min(d.chunk, budget-(len(live)-1-i)))
		}
		d.do(&b, &r)
		live = slices.DeleteFunc(live, func(s *sequence) bool { return len(s.out()) >= s.limit || s.err != nil })
	}
	b.Reset()
	d.step++
	b.Step, b.Epoch = d.step, d.epoch
	for _, s := range seqs {
		b.Retire = append(b.Retire, s.slot)
	}
	d.do(&b, &r)
}

func (d *driver) admit(b *executor.Batch, s *sequence, slot executor.Slot) {
	s.slot, s.prompt = slot, len(s.ids)
	d.seqs[slot] = s
	b.Admit = append(b.Admit, executor.Admit{
		Slot: slot, IDs: s.ids, PromptLen: int32(s.prompt), Sampling: s.sampling, Seed: s.seed, Adapter: s.adapter, Parent: executor.NoSlot,
	})
	n := pages(s.prompt+s.limit, d.e.Info().PageSize)
	for g := range d.free {
		if n > len(d.free[g]) {
			d.t.Fatalf("%d blocks are free, %d are needed", len(d.free[g]), n)
		}
		b.Tables = append(b.Tables, executor.Table{Slot: slot, Group: int32(g), Blocks: d.free[g][:n:n]})
		d.free[g] = d.free[g][n:]
	}
}

// row adds the next row of s and answers its tokens.
func (d *driver) row(b *executor.Batch, s *sequence, most int) int {
	n := min(most, len(s.ids)-s.next)
	b.Rows = append(b.Rows, executor.Row{
		Slot: s.slot, Start: int32(s.next), Count: int32(n), Sample: s.next+n == len(s.ids), Mask: -1,
		PromptLogprobs: s.sampling.Tell.Prompt,
	})
	s.next += n
	return n
}

func (d *driver) do(b *executor.Batch, r *executor.Result) {
	d.t.Helper()
	if err := d.e.Start(b); err != nil {
		d.t.Fatal(err)
	}
	if err := d.e.Finish(r); err != nil {
		d.t.Fatal(err)
	}
	if r.Err != nil {
		d.t.Fatal(r.Err)
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		s := d.seqs[row.Slot]
		s.ids = append(s.ids, row.Tokens...)
		s.err = row.Err
		if d.keep {
			s.drawn, s.scores = append(s.drawn, copied(row.Drawn)...), append(s.scores, copied(row.Prompt)...)
		}
	}
}

// copied are the records of a result, which is used again.
func copied(records []sampling.Drawn) []sampling.Drawn {
	out := slices.Clone(records)
	for i := range out {
		out[i].Top, out[i].Kept = slices.Clone(out[i].Top), slices.Clone(out[i].Kept)
	}
	return out
}
