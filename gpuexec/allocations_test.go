package gpuexec

import (
	"math"
	"runtime"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
)

// TestStepsAllocateNothing decodes, greedy and not, with an adapter and without, through Start and
// Finish, by kernels and by graphs.
func TestStepsAllocateNothing(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, graphs := range []Graphs{{}, all} {
		e := start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 8, MaxSlots: 2, Graphs: graphs, MaxAdapters: 1})
		load(t, e, familytest.Adapter(m, 1, 8, familytest.Everywhere))
		stepsAllocateNothing(t, e)
	}
}

func stepsAllocateNothing(t *testing.T, e *Executor) {
	t.Helper()
	var b executor.Batch
	var r executor.Result
	for s := range executor.Slot(2) {
		a := executor.Admit{Slot: s, IDs: []int32{int32(s) + 3}, PromptLen: 1, Parent: executor.NoSlot}
		a.Sampling.Temperature, a.Adapter = float32(s), []string{"a", ""}[s]
		b.Admit = append(b.Admit, a)
		b.Tables = append(b.Tables, executor.Table{Slot: s, Blocks: []int32{4 * int32(s), 4*int32(s) + 1}})
	}
	steps := func(n int) {
		for range n {
			at := int32(b.Step)
			b.Step, b.Epoch = b.Step+1, 1
			for s := range executor.Slot(2) {
				b.Rows = append(b.Rows, executor.Row{Slot: s, Start: at, Count: 1, Sample: true, Mask: -1})
			}
			if err := e.Start(&b); err != nil {
				t.Fatal(err)
			}
			if err := e.Finish(&r); err != nil || r.Err != nil {
				t.Fatal(err, r.Err)
			}
			step := b.Step
			b.Reset()
			b.Step = step
		}
	}
	steps(4)
	least := uint64(math.MaxUint64)
	for range 3 { // the runtime has a few now and then
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		steps(8)
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least >= 8 {
		t.Errorf("%d allocations in 8 steps", least)
	}
}
