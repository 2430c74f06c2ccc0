package gpuexec

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// generate lets sequences of one prompt, each by its own parameters, have n tokens each, two steps
// handed over at a time.
func generate(t *testing.T, e *Executor, prompt []int32, list []sampling.Params, n int) [][]int32 {
	t.Helper()
	out, size := make([][]int32, len(list)), pages(len(prompt)+n, e.Info().PageSize)
	batches, results := [2]executor.Batch{}, executor.Result{}
	start := func(step int) {
		b := &batches[step%2]
		b.Reset()
		b.Step, b.Epoch = uint64(step+1), 1
		for s := range executor.Slot(len(list)) {
			row := executor.Row{Slot: s, Start: int32(len(prompt) + step - 1), Count: 1, Sample: true, Mask: -1}
			if step == 0 {
				row.Start, row.Count = 0, int32(len(prompt))
				b.Admit = append(b.Admit, executor.Admit{Slot: s, IDs: prompt, PromptLen: row.Count, Sampling: list[s], Seed: uint64(s), Parent: executor.NoSlot})
				blocks := make([]int32, size)
				for i := range blocks {
					blocks[i] = int32(int(s)*size + i)
				}
				b.Tables = append(b.Tables, executor.Table{Slot: s, Blocks: blocks})
			}
			b.Rows = append(b.Rows, row)
		}
		if err := e.Start(b); err != nil {
			t.Fatal(err)
		}
	}
	start(0)
	for step := range n {
		if step+1 < n {
			start(step + 1)
		}
		if err := e.Finish(&results); err != nil || results.Err != nil {
			t.Fatal(err, results.Err)
		}
		for s := range list {
			out[s] = append(out[s], results.Rows[s].Tokens...)
		}
	}
	return out
}

// TestDeviceDrawsAsTheHost draws the same tokens on the device and, since logits are shown, on the host.
func TestDeviceDrawsAsTheHost(t *testing.T) {
	m, set := loadModel(t, "tiny")
	driver := emu.Open(t, emu.Options{})
	cfg := Config{Device: device(t, driver), Model: m, Weights: set, MaxMemory: 64 << 20, MaxContext: 64, MaxTokens: 64, MaxSlots: 6}
	list := []sampling.Params{
		{}, {Temperature: 1}, {Temperature: 0.7, TopK: 20}, {Temperature: 1.2, TopP: 0.9}, {Temperature: 1, MinP: 0.05, TopK: 100, TopP: 0.95},
		{Temperature: 1, TypicalP: 0.9}, // not on the device
	}
	prompt := []int32{5, 77, 300, 12}
	lists := [][]sampling.Params{list[:5], list, list[:1]}
	if testing.Short() {
		lists = lists[:1]
	}
	for _, some := range lists {
		drawn := generate(t, start(t, cfg), prompt, some, 12)
		shown := 0
		graphs, before := cfg, driver.Counts().Graphs
		graphs.Graphs = Graphs{Decode: true}
		if got := generate(t, start(t, graphs), prompt, some, 12); !slices.EqualFunc(got, drawn, slices.Equal) {
			t.Errorf("graphs of %d sequences give %v, kernels one by one %v", len(some), got, drawn)
		}
		if n, want := driver.Counts().Graphs-before, 11; n != want && !emu.Hardware() {
			t.Errorf("%d sequences ran %d graphs, want one a decoding step: %d", len(some), n, want)
		}
		host := cfg
		host.KeepLogits = func(int, int, []float32) { shown++ }
		want := generate(t, start(t, host), prompt, some, 12)
		if shown != 12*len(some) {
			t.Errorf("%d rows of logits are shown, want %d", shown, 12*len(some))
		}
		for i := range some {
			if !slices.Equal(drawn[i], want[i]) || len(want[i]) != 12 {
				t.Errorf("%+v: the device draws %v, the host %v", some[i], drawn[i], want[i])
			}
		}
	}
}
