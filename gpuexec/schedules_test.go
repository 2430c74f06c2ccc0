package gpuexec

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// pipelined generates with two steps in flight: each is finished when the next one is launched.
func pipelined(t *testing.T, schedule emu.Schedule, plant func(*Executor)) (tokens []int32, err error) {
	t.Helper()
	m, set := loadModel(t, family("llama"))
	e, err := New(Config{Device: device(t, emu.Open(t, emu.Options{Schedule: schedule})), Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { err = cmp.Or(err, e.Close()) }()
	plant(e)
	const prompt, steps = 5, 6
	batches := []executor.Batch{{
		Admit:  []executor.Admit{{IDs: []int32{1, 2, 3, 4, 5}, PromptLen: prompt, Sampling: sampling.Params{Temperature: 2}, Parent: executor.NoSlot}},
		Tables: []executor.Table{{Blocks: []int32{0, 1}}},
		Rows:   []executor.Row{{Count: prompt, Sample: true, Mask: -1}},
	}}
	for i := range steps - 1 {
		batches = append(batches, executor.Batch{Rows: []executor.Row{{Start: int32(prompt + i), Count: 1, Sample: true, Mask: -1}}})
	}
	finish := func() {
		var r executor.Result
		if failed := e.Finish(&r); failed != nil || r.Err != nil {
			err = cmp.Or(err, failed, r.Err)
			return
		}
		tokens = append(tokens, r.Rows[0].Tokens...)
	}
	for i := range batches {
		batches[i].Step, batches[i].Epoch = uint64(i+1), 1
		if err := e.Start(&batches[i]); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		e.mu.Lock()
		for len(e.flying) < 2 {
			e.changed.Wait()
		}
		e.mu.Unlock()
		finish()
	}
	finish()
	return tokens, err
}

// TestSharedBuffersShow lets two steps share what each must have of its own: in some schedule that is
// legal the device is told of it, or tokens are others. Without that all schedules give the same.
func TestSharedBuffersShow(t *testing.T) {
	emu.Only(t, "others do not choose the schedule")
	schedules := []emu.Schedule{emu.Lazy, emu.Hasty}
	want, err := pipelined(t, emu.Eager, func(*Executor) {})
	if err != nil || len(want) != 6 || want[0] == want[1] { // one that stands for the other would not show
		t.Fatalf("%v, %v", want, err)
	}
	for name, plant := range map[string]func(*Executor){
		"nothing":          func(*Executor) {},
		"the input":        func(e *Executor) { e.work.inputs[1] = e.work.inputs[0] },
		"the pinned input": func(e *Executor) { e.steps[1].memory = e.steps[0].memory },
		"what is drawn":    func(e *Executor) { e.work.drawn[1] = e.work.drawn[0] },
		"the pinned drawn": func(e *Executor) { e.steps[1].ids = e.steps[0].ids },
	} {
		shown := false
		for _, s := range schedules {
			got, err := pipelined(t, s, plant)
			shown = shown || errors.Is(err, cuda.ErrDeviceLost) || err == nil && !slices.Equal(got, want)
		}
		if shown != (name != "nothing") {
			t.Errorf("%s is shared, and it shows: %t", name, shown)
		}
	}
}
