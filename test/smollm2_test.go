package test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/weights"
)

// smolGolden is what the reference computes for SmolLM2-135M-Instruct in float32.
type smolGolden struct {
	Cases []struct {
		Messages  []text.Message
		Text      string
		PromptIDs []int32      `json:"prompt_ids"`
		Top20     [][2]float64 `json:"top20"` // id, logit after the prompt
		Greedy    []int32
		Gap       []float64
		Output    string
	}
	NLLIDs []int32 `json:"nll_ids"`
	NLL    float64 `json:"perplexity"` // mean negative log-likelihood of NLLIDs but the first
}

func smol(t *testing.T) (*smolGolden, *checkpoint.Checkpoint) {
	t.Helper()
	data, err := os.ReadFile("testdata/smollm2/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	g := new(smolGolden)
	if err := json.Unmarshal(data, g); err != nil {
		t.Fatal(err)
	}
	return g, asset(t, "smollm2")
}

// asset opens a model of `make assets`.
func asset(t testing.TB, name string) *checkpoint.Checkpoint {
	t.Helper()
	path, err := checkpoint.Resolve(name)
	if err != nil {
		if os.Getenv("CBACTOR_REQUIRE_ASSETS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Prompts become the reference's ids, all prompts in one batch give its greedy
// tokens up to the first lead below 0.01, and those its text.
func TestSmolLM2TextIsTheReference(t *testing.T) {
	g, c := smol(t)
	codec, err := text.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Spawn(t.Context(), engine.Config{Checkpoint: c, Compute: "f32", KVDType: "f32"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	var reqs []engine.Request
	for i, k := range g.Cases {
		ids := codec.Encode(k.Text)
		if k.Messages != nil {
			if ids, err = codec.EncodeChat(k.Messages); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(ids, k.PromptIDs) {
			t.Fatalf("case %d: prompt ids %v, want %v", i, ids, k.PromptIDs)
		}
		reqs = append(reqs, engine.Request{PromptIDs: ids, MaxNewTokens: 48})
	}
	outs, err := e.GenerateBatch(t.Context(), reqs, engine.BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, k := range g.Cases {
		sure := slices.IndexFunc(k.Gap, func(gap float64) bool { return gap < 0.01 })
		if sure < 0 {
			sure = len(k.Greedy)
		}
		compared += sure
		if len(outs[i].TokenIDs) < sure || !slices.Equal(outs[i].TokenIDs[:sure], k.Greedy[:sure]) {
			t.Errorf("case %d: tokens %v, want %v", i, outs[i].TokenIDs, k.Greedy[:sure])
		}
		if sure == len(k.Greedy) && k.Greedy[sure-1] == 2 { // ended: the whole text, the ending token not shown
			if got := codec.Decode(outs[i].TokenIDs) + "<|im_end|>"; got != k.Output {
				t.Errorf("case %d: text %q, want %q", i, got, k.Output)
			}
		}
	}
	t.Logf("golden: smollm2, %d prompts' ids and %d greedy tokens equal", len(g.Cases), compared)
	if compared != 277 {
		t.Errorf("compared %d tokens, the golden has 277 before the first low leads", compared)
	}
}

// The logits after each prompt are the reference's within 2e-3, and the mean negative
// log-likelihood of a text within 1e-3.
func TestSmolLM2LogitsAreTheReference(t *testing.T) {
	g, c := smol(t)
	set, err := weights.Load(c.Config, c, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	const slots = 64
	logits := make([][]float32, slots)
	ex, err := cpuexec.New(cpuexec.Config{Model: c.Config, Weights: set, MaxSlots: slots, MaxTokens: 512, NumBlocks: 256, MaxContext: 1024,
		KeepLogits: func(slot, _ int, row []float32) { logits[slot] = slices.Clone(row) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := &forced{t: t, ex: ex, table: make([]int32, 16)}
	for i := range r.table {
		r.table[i] = int32(i)
	}
	worst := 0.0
	for _, k := range g.Cases {
		r.run(k.PromptIDs, 0, len(k.PromptIDs))
		for _, top := range k.Top20 {
			worst = max(worst, math.Abs(float64(logits[0][int(top[0])])-top[1]))
		}
	}
	t.Logf("golden: smollm2, the largest difference of the top 20 logits is %.2g", worst)
	if worst > 2e-3 {
		t.Errorf("logits differ by %g, at most 2e-3 is right", worst)
	}
	// The text is written to the cache once; then sequences that are its beginnings
	// share that cache, and each computes its last position.
	r.run(g.NLLIDs, 0, len(g.NLLIDs))
	sum := 0.0
	for from := 0; from < len(g.NLLIDs)-1; from += slots {
		to := min(from+slots, len(g.NLLIDs)-1)
		r.beginnings(g.NLLIDs, from, to)
		for i := from; i < to; i++ {
			sum -= logProb(logits[i-from], g.NLLIDs[i+1])
		}
	}
	nll := sum / float64(len(g.NLLIDs)-1)
	t.Logf("golden: smollm2, mean negative log-likelihood %.6f, reference %.6f", nll, g.NLL)
	if math.Abs(nll-g.NLL) > 1e-3 {
		t.Errorf("mean negative log-likelihood %g, want %g", nll, g.NLL)
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

// forced runs batches of an executor by hand.
type forced struct {
	t     *testing.T
	ex    executor.Executor
	table []int32
	step  uint64
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
