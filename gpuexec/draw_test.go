package gpuexec

import (
	"reflect"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// generated is what a sequence has of its steps.
type generated struct {
	ids           []int32
	drawn, prompt []sampling.Drawn
}

// generation lets sequences of one prompt, each by its own parameters, have n tokens each, two steps handed
// over at a time. With forks, all but the first draw from its logits.
type generation struct {
	prompt []int32
	list   []sampling.Params
	n      int
	forks  bool
}

func (g *generation) run(t *testing.T, e *Executor) []generated {
	t.Helper()
	out, results := make([]generated, len(g.list)), executor.Result{}
	batches := [2]executor.Batch{}
	start := func(step int) {
		b := &batches[step%2]
		g.fill(b, step, e.Info().PageSize)
		if err := e.Start(b); err != nil {
			t.Fatal(err)
		}
	}
	start(0)
	for step := range g.n {
		if step+1 < g.n {
			start(step + 1)
		}
		if err := e.Finish(&results); err != nil || results.Err != nil {
			t.Fatal(err, results.Err)
		}
		for s := range g.list {
			row := &results.Rows[s]
			out[s].ids = append(out[s].ids, row.Tokens...)
			out[s].drawn, out[s].prompt = append(out[s].drawn, copied(row.Drawn)...), append(out[s].prompt, copied(row.Prompt)...)
		}
	}
	return out
}

// fill makes the Batch of a step.
func (g *generation) fill(b *executor.Batch, step, page int) {
	b.Reset()
	b.Step, b.Epoch = uint64(step+1), 1
	length := int32(len(g.prompt))
	for s := range executor.Slot(len(g.list)) {
		if step > 0 {
			b.Rows = append(b.Rows, executor.Row{Slot: s, Start: length + int32(step) - 1, Count: 1, Sample: true, Mask: -1})
			continue
		}
		a := executor.Admit{Slot: s, IDs: g.prompt, PromptLen: length, Sampling: g.list[s], Seed: uint64(s), Parent: executor.NoSlot}
		row := executor.Row{Slot: s, Count: length, Sample: true, Mask: -1, PromptLogprobs: g.list[s].Tell.Prompt}
		blocks := make([]int32, pages(len(g.prompt)+g.n, page))
		for i := range blocks {
			blocks[i] = int32(int(s)*len(blocks) + i)
		}
		if g.forks && s > 0 { // the prompt fills whole blocks, which it shares
			a.Parent, row = 0, executor.Row{Slot: s, Start: length, Sample: true, Mask: -1}
			for i := range len(g.prompt) / page {
				blocks[i] = int32(i)
			}
		}
		b.Admit, b.Rows = append(b.Admit, a), append(b.Rows, row)
		b.Tables = append(b.Tables, executor.Table{Slot: s, Blocks: blocks})
	}
}

// copied are the records of a result, which is used again.
func copied(records []sampling.Drawn) []sampling.Drawn {
	out := slices.Clone(records)
	for i := range out {
		out[i].Top = slices.Clone(out[i].Top)
	}
	return out
}

// hosted says that logits of some row have come to the host.
func hosted(e *Executor) bool {
	for i := range e.steps {
		if all := e.steps[i].samples; all[:1][0] != (sample{}) {
			return true
		}
	}
	return false
}

// deviceDraws are parameters that the device draws by.
var deviceDraws = []sampling.Params{
	{Tell: sampling.Tell{Logprobs: true, Top: 20, Prompt: true}},
	{Temperature: 1},
	{Temperature: 0.7, TopK: 20, RepetitionPenalty: 1.3, Tell: sampling.Tell{Logprobs: true, Top: 5}},
	{Temperature: 1.2, TopP: 0.9, TypicalP: 0.95, Tell: sampling.Tell{Prompt: true}},
	{Temperature: 1, MinP: 0.05, TopK: 100, TopP: 0.95, PresencePenalty: 0.7, FrequencyPenalty: 0.4},
	{NoRepeatNgram: 2, MinNew: 7, Ends: []int32{14, -1}, BadWords: [][]int32{{300, 12}, {418}}, Bias: []sampling.Bias{{ID: 301, Value: 5}}, Tell: sampling.Tell{Logprobs: true}},
	{FrequencyPenalty: 1.5},
}

// TestDeviceDrawsAsTheHost draws the same tokens on the device and, since logits are shown, on the host, and
// tells the same of them, to the bit; of those alone no logits come to the host.
func TestDeviceDrawsAsTheHost(t *testing.T) {
	m, set := loadModel(t, "tiny")
	driver := emu.Open(t, emu.Options{})
	cfg := Config{Device: device(t, driver), Model: m, Weights: set, MaxMemory: 64 << 20, PageSize: 4, MaxContext: 64, MaxTokens: 64, MaxSlots: 8}
	runs := []generation{{list: deviceDraws}, {list: deviceDraws[5:]}} // the latter are all greedy
	if !testing.Short() {
		kept := sampling.Params{Temperature: 1, TopK: 9, Tell: sampling.Tell{Kept: true}} // not on the device
		runs = append(runs, generation{list: append(slices.Clone(deviceDraws), kept), forks: true}, generation{list: []sampling.Params{{}}})
	}
	for i, g := range runs {
		g.prompt, g.n = []int32{5, 77, 300, 12}, 9
		host := cfg
		shown := 0
		host.KeepLogits = func(int, int, []float32) { shown++ }
		want := g.run(t, start(t, host))
		if shown != g.n*len(g.list) {
			t.Errorf("%d rows of logits are shown, want %d", shown, g.n*len(g.list))
		}
		if i == 0 {
			g.sameAs(t, "kernels one by one", start(t, cfg), want)
		}
		graphs, before := cfg, driver.Counts().Graphs
		graphs.Graphs = all
		g.sameAs(t, "graphs", start(t, graphs), want)
		if n, want := driver.Counts().Graphs-before, g.n; n != want && !emu.Hardware() {
			t.Errorf("%d sequences ran %d graphs, want one a step: %d", len(g.list), n, want)
		}
	}
}

// sameAs runs g, whose rows are all drawn on the device unless there are more than those.
func (g *generation) sameAs(t *testing.T, what string, e *Executor, want []generated) {
	t.Helper()
	for i, got := range g.run(t, e) {
		if !reflect.DeepEqual(got, want[i]) || len(got.ids) != g.n {
			t.Errorf("%s: %+v: the device gives %+v, the host %+v", what, g.list[i], got, want[i])
		}
	}
	if got, want := hosted(e), len(g.list) > len(deviceDraws); got != want {
		t.Errorf("%s: logits have come to the host: %t, want %t", what, got, want)
	}
}
