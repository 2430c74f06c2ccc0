package suite

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// request is one sequence: n tokens after ids, of which those from
// promptLen on were generated before a preemption.
type request struct {
	ids       []int32
	promptLen int // 0: all ids
	n         int // 0: the prompt is only scored
	sampling  sampling.Params
	seed      uint64
	child     int32
	adapter   string
}

// policy says how a driver runs requests. No choice may change a token.
type policy struct {
	chunk    int    // most prompt tokens of a row
	together int    // most requests at a time
	ahead    int    // steps handed over at once
	shuffle  uint64 // seed of the order in which blocks are handed out; 0: ascending
}

// driver is a scheduler without any wisdom. It never preempts: the pool is large. Blocks
// behind a window are handed out again as soon as the step is done that leaves them there.
type driver struct {
	t      *testing.T
	ex     executor.Executor
	info   executor.Info
	step   uint64
	epoch  uint32 // that plans name
	blocks *blocks
	keep   bool      // what lies behind a window, for others
	host   [][]int32 // per group, free blocks of the host pool, for those who swap
	slots  []executor.Slot
	active []*sequence
	flying []*plan
	result executor.Result
}

func newDriver(t *testing.T, ex executor.Executor) *driver {
	t.Helper()
	d := &driver{t: t, ex: ex, info: ex.Info(), epoch: 1, blocks: newBlocks(t, ex.Info())}
	for i := range d.info.MaxSlots {
		d.slots = append(d.slots, executor.Slot(i))
	}
	return d
}

// run generates all requests and answers their sequences in order.
func (d *driver) run(requests []request, p policy) []*sequence {
	d.t.Helper()
	if p.shuffle != 0 {
		d.blocks.shuffle(rand.New(rand.NewPCG(p.shuffle, 1)))
	}
	done := make([]*sequence, len(requests))
	for waiting := 0; ; {
		for len(d.flying) < p.ahead {
			b := d.newPlan()
			for ; waiting < len(requests) && len(d.active) < p.together && len(d.slots) > 0; waiting++ {
				done[waiting] = d.admit(&b.batch, &requests[waiting])
			}
			d.addRows(b, p.chunk)
			if len(b.rows) == 0 {
				break
			}
			d.start(b)
		}
		if len(d.flying) == 0 {
			return done
		}
		d.finish()
	}
}

func (d *driver) start(b *plan) {
	d.t.Helper()
	if err := d.ex.Start(&b.batch); err != nil {
		d.t.Fatalf("Start: %v", err)
	}
	d.flying = append(d.flying, b)
}

// finish takes the oldest step's result and gives back what its ended sequences
// held.
func (d *driver) finish() {
	d.t.Helper()
	if err := d.ex.Finish(&d.result); err != nil {
		d.t.Fatalf("Finish: %v", err)
	}
	b := d.flying[0]
	d.flying = d.flying[1:]
	checkResult(d.t, d.info, &b.batch, &d.result)
	for i, s := range b.rows {
		row := &d.result.Rows[i]
		checkTold(d.t, d.info, s, &b.batch.Rows[i], row)
		s.out = append(s.out, row.Tokens...)
		s.drawn, s.prompt = append(s.drawn, copied(row.Drawn)...), append(s.prompt, copied(row.Prompt)...)
		if s.err == nil {
			s.err = row.Err
		}
		d.recede(s, int(b.batch.Rows[i].Start+b.batch.Rows[i].Count))
	}
	for _, s := range b.ended {
		d.slots = append(d.slots, s.slot)
		for g, table := range s.tables {
			d.blocks.give(g, table)
		}
	}
}

// recede takes from s what no position from p on attends to.
func (d *driver) recede(s *sequence, p int) {
	for g, table := range s.tables {
		behind := table[:min(d.blocks.behind(g, p), len(table))]
		if d.keep {
			continue
		}
		d.blocks.give(g, slices.Clone(behind))
		for i := range behind {
			behind[i] = gone
		}
	}
}
