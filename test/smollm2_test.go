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
	worst := 0.0
	f := newForced(t, cpuexec.Config{Model: c.Config, Weights: set})
	for _, k := range g.Cases {
		logits := f.prompt(k.PromptIDs)
		for _, top := range k.Top20 {
			worst = max(worst, math.Abs(float64(logits[int(top[0])])-top[1]))
		}
	}
	t.Logf("golden: smollm2, the largest difference of the top 20 logits is %.2g", worst)
	if worst > 2e-3 {
		t.Errorf("logits differ by %g, at most 2e-3 is right", worst)
	}
	nll := f.likelihood(g.NLLIDs)
	t.Logf("golden: smollm2, mean negative log-likelihood %.6f, reference %.6f", nll, g.NLL)
	if math.Abs(nll-g.NLL) > 1e-3 {
		t.Errorf("mean negative log-likelihood %g, want %g", nll, g.NLL)
	}
}

// Keys and values of fewer bits change the mean negative log-likelihood by no more than
// that of weights of as many.
func TestSmolLM2CacheTypesAreClose(t *testing.T) {
	g, c := smol(t)
	set, err := weights.Load(c.Config, c, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		kv    cpuexec.KVType
		bound float64
	}{{cpuexec.KVBF16, 0.01}, {cpuexec.KVInt8, 0.02}} {
		nll := newForced(t, cpuexec.Config{Model: c.Config, Weights: set, KVType: k.kv}).likelihood(g.NLLIDs)
		t.Logf("golden: smollm2, cache in %s: mean negative log-likelihood %.6f, reference %.6f", k.kv, nll, g.NLL)
		if !(math.Abs(nll-g.NLL) <= k.bound) {
			t.Errorf("cache in %s: mean negative log-likelihood %g, want %g within %g", k.kv, nll, g.NLL, k.bound)
		}
	}
}
