package test

import (
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
)

// forcedSlots is how many sequences a forced runs at a time.
const forcedSlots = 64

// forced runs batches of an executor by hand.
type forced struct {
	t      *testing.T
	ex     executor.Executor
	logits [forcedSlots][]float32 // of the slots' last rows
	table  []int32
	step   uint64
}

// newForced makes the executor of cfg, which the test closes.
func newForced(t *testing.T, cfg cpuexec.Config) *forced {
	t.Helper()
	f := &forced{t: t, table: make([]int32, 16)}
	for i := range f.table {
		f.table[i] = int32(i)
	}
	cfg.MaxSlots, cfg.MaxTokens, cfg.NumBlocks, cfg.MaxContext = forcedSlots, 512, 256, 1024
	cfg.KeepLogits = func(slot, _ int, row []float32) { f.logits[slot] = slices.Clone(row) }
	ex, err := cpuexec.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
	})
	f.ex = ex
	return f
}

// prompt is the logits behind ids.
func (f *forced) prompt(ids []int32) []float32 {
	f.t.Helper()
	f.run(ids, 0, len(ids))
	return f.logits[0]
}

// likelihood is the mean negative log-likelihood of ids but the first.
func (f *forced) likelihood(ids []int32) float64 {
	f.t.Helper()
	sum := 0.0
	f.every(ids, 0, func(i int, logits []float32) { sum -= logProb(logits, ids[i+1]) })
	return sum / float64(len(ids)-1)
}

// every shows the logits behind ids[:i+1], for each i from first on but the last. The ids are
// written to the cache once; then sequences that are their beginnings share that cache,
// and each computes its last position.
func (f *forced) every(ids []int32, first int, show func(i int, logits []float32)) {
	f.t.Helper()
	f.run(ids, 0, len(ids))
	for from := first; from < len(ids)-1; from += forcedSlots {
		to := min(from+forcedSlots, len(ids)-1)
		f.beginnings(ids, from, to)
		for i := from; i < to; i++ {
			show(i, f.logits[i-from])
		}
	}
}

// run computes positions from..to-1 of one sequence, in one step, and samples.
func (f *forced) run(ids []int32, from, to int) {
	f.do(&executor.Batch{
		Admit:  []executor.Admit{{Slot: 0, IDs: ids, PromptLen: int32(len(ids)), Parent: executor.NoSlot}},
		Tables: []executor.Table{{Slot: 0, Blocks: f.table}},
		Rows:   []executor.Row{{Slot: 0, Start: int32(from), Count: int32(to - from), Sample: true, Mask: -1}},
		Retire: []executor.Slot{0},
	})
}

// beginnings computes the last position of ids[:i+1] for i in from..to-1, each in a slot of its own.
func (f *forced) beginnings(ids []int32, from, to int) {
	b := new(executor.Batch)
	for i := from; i < to; i++ {
		s := executor.Slot(i - from)
		b.Admit = append(b.Admit, executor.Admit{Slot: s, IDs: ids[:i+1], PromptLen: int32(i + 1), Parent: executor.NoSlot})
		b.Tables = append(b.Tables, executor.Table{Slot: s, Blocks: f.table})
		b.Rows = append(b.Rows, executor.Row{Slot: s, Start: int32(i), Count: 1, Sample: true, Mask: -1})
		b.Retire = append(b.Retire, s)
	}
	f.do(b)
}

func (f *forced) do(b *executor.Batch) {
	f.t.Helper()
	f.step++
	b.Step, b.Epoch = f.step, 1
	if err := f.ex.Start(b); err != nil {
		f.t.Fatal(err)
	}
	var r executor.Result
	if err := f.ex.Finish(&r); err != nil {
		f.t.Fatal(err)
	}
	if r.Err != nil {
		f.t.Fatal(r.Err)
	}
}

func logProb(logits []float32, id int32) float64 {
	top := float64(slices.Max(logits))
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	return float64(logits[id]) - top - math.Log(sum)
}
