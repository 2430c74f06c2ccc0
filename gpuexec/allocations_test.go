package gpuexec

import (
	"math"
	"runtime"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/sampling"
)

// TestStepsAllocateNothing decodes through Start and Finish, by kernels and by graphs: greedy with an adapter, and with
// penalties while being told of it.
func TestStepsAllocateNothing(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, graphs := range []Graphs{{}, all} {
		e := start(t, Config{Device: emulated(t), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 8, MaxSlots: 2, Graphs: graphs, MaxAdapters: 1})
		load(t, e, "a", familytest.Adapter(m, 1, 8, familytest.Everywhere))
		stepsAllocateNothing(t, e)
	}
}

func stepsAllocateNothing(t *testing.T, e *Executor) {
	t.Helper()
	var b executor.Batch
	var r executor.Result
	for s := range executor.Slot(2) {
		a := executor.Admit{Slot: s, IDs: []int32{int32(s) + 3}, PromptLen: 1, Parent: executor.NoSlot}
		a.Adapter = []string{"a", ""}[s]
		if s > 0 {
			a.Sampling = sampling.Params{
				Temperature: 1, RepetitionPenalty: 1.2, Bias: []sampling.Bias{{ID: 7, Value: 1}}, Tell: sampling.Tell{Logprobs: true, Top: 5},
			}
		}
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
			if err := e.Finish(&r); err != nil || r.Err != nil || len(r.Rows[1].Drawn) != 1 {
				t.Fatal(err, r.Err, r.Rows)
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
