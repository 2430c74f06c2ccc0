package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/gpuexec"
)

// decoder runs steps through an executor: some sequences, each of context tokens, that decode.
type decoder struct {
	ex      executor.Executor
	info    executor.Info
	context int
	steps   int // that each measurement decodes
	step    uint64
	batches [gpuexec.MaxOutstanding]executor.Batch
	result  executor.Result
	told    []gpuexec.Timing
}

// pagesOf is how many blocks a sequence has that decodes so many steps.
func pagesOf(context, steps int) int { return (context + steps + page - 1) / page }

// warmups is how many steps of a measurement do not count.
const warmups = 8

// next is the batch of the next step, empty.
func (d *decoder) next() *executor.Batch {
	d.step++
	b := &d.batches[d.step%gpuexec.MaxOutstanding]
	b.Reset()
	b.Step, b.Epoch = d.step, 1
	return b
}

// finish waits for the oldest step.
func (d *decoder) finish() error {
	if err := d.ex.Finish(&d.result); err != nil {
		return err
	}
	for i := range d.result.Rows {
		if err := d.result.Rows[i].Err; err != nil {
			return fmt.Errorf("sequence %d: %w", i, err)
		}
	}
	return d.result.Err
}

// admit opens slot with a prompt of its own and the blocks that follow those of the slots before it.
func (d *decoder) admit(b *executor.Batch, slot executor.Slot) {
	ids := make([]int32, d.context)
	for i := range ids {
		ids[i] = int32((int(slot)*31 + i*17 + i*i) % d.info.Vocab)
	}
	b.Admit = append(b.Admit, executor.Admit{Slot: slot, IDs: ids, PromptLen: int32(len(ids)), Parent: executor.NoSlot})
	b.Tables = append(b.Tables, executor.Table{Slot: slot, Blocks: d.blocks(slot)})
}

// blocks are those of a slot.
func (d *decoder) blocks(slot executor.Slot) []int32 {
	n := pagesOf(d.context, d.steps+warmups)
	blocks := make([]int32, n)
	for i := range blocks {
		blocks[i] = int32(int(slot)*n + i)
	}
	return blocks
}

// prefill computes the prompts of the first slots up to their last token, alone in their steps, and tells
// how many tokens a second that were. It takes all but the first step's time.
func (d *decoder) prefill(slots int) (float64, error) {
	var began time.Time
	tokens, last := 0, int32(d.context-1)
	chunk := min(last, int32(d.info.MaxTokens))
	for slot := range executor.Slot(slots) {
		for at := int32(0); at < last; at += chunk {
			b := d.next()
			if at == 0 {
				d.admit(b, slot)
			}
			count := min(chunk, last-at)
			b.Rows = append(b.Rows, executor.Row{Slot: slot, Start: at, Count: count, Mask: -1})
			if err := errors.Join(d.ex.Start(b), d.finish()); err != nil {
				return 0, err
			}
			if began.IsZero() {
				began = time.Now()
				continue
			}
			tokens += int(count)
		}
	}
	return float64(tokens) / max(time.Since(began).Seconds(), 1e-9), nil
}

// prompts is how many of the sequences' prompts are computed: the others have copies of their blocks.
const prompts = 5

// decode measures n sequences, and the prefill of some of them.
func (d *decoder) decode(n int) (r stepReport, prefilled float64, err error) {
	some := min(n, prompts)
	if prefilled, err = d.prefill(some); err != nil {
		return r, 0, err
	}
	d.told = d.told[:0]
	var times []time.Time // when results came
	start := func(step int) error {
		b := d.next()
		if step == 0 {
			d.copies(b, some, n)
		}
		for slot := range executor.Slot(n) {
			b.Rows = append(b.Rows, executor.Row{Slot: slot, Start: int32(d.context - 1 + step), Count: 1, Sample: true, Mask: -1})
		}
		if step == warmups+d.steps-1 {
			for slot := range executor.Slot(n) {
				b.Retire = append(b.Retire, slot)
			}
		}
		return d.ex.Start(b)
	}
	if err := start(0); err != nil {
		return r, 0, err
	}
	for step := range warmups + d.steps {
		if step+1 < warmups+d.steps {
			if err := start(step + 1); err != nil {
				return r, 0, err
			}
		}
		if err := d.finish(); err != nil {
			return r, 0, err
		}
		times = append(times, time.Now())
	}
	return d.summed(n, times), prefilled, nil
}

// copies opens the slots from some to n with what those before them have in the cache.
func (d *decoder) copies(b *executor.Batch, some, n int) {
	for slot := some; slot < n; slot++ {
		d.admit(b, executor.Slot(slot))
		from, to := d.blocks(executor.Slot(slot%some)), d.blocks(executor.Slot(slot))
		for i := range pagesOf(d.context, 0) {
			b.Copies = append(b.Copies, executor.Copy{Kind: executor.CopyFork, From: from[i], To: to[i]})
		}
	}
}

// summed makes a report of when results came and of what the device's clock has told.
func (d *decoder) summed(n int, times []time.Time) stepReport {
	times = times[warmups-1:]
	each := times[len(times)-1].Sub(times[0]) / time.Duration(len(times)-1)
	r := stepReport{Sequences: n, StepUs: micros(each), TokensS: float64(n) / each.Seconds()}
	var busy, gaps []time.Duration
	var worked, all time.Duration
	for _, t := range d.told[warmups:] {
		busy, gaps = append(busy, t.Busy), append(gaps, t.Gap)
		worked, all = worked+t.Busy, all+t.Busy+t.Gap
	}
	slices.Sort(busy)
	slices.Sort(gaps)
	r.BusyUs, r.GapUs, r.GapMostUs = micros(busy[len(busy)/2]), micros(gaps[len(gaps)/2]), micros(gaps[len(gaps)-1])
	r.BusyShare = worked.Seconds() / max(all.Seconds(), 1e-9)
	return r
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
