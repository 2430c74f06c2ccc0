package gpuexec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What a correct executor in bf16 may be off by with the embedded model, in logits, and the lead of a
// golden token from which it must be the most likely one.
const (
	tinyBound = 0.15
	tinyLead  = 0.15
)

// tinyCase is a prompt and what the reference generates behind it: logits behind the prompt, tokens, their
// log-probabilities and by how much their logits lead.
type tinyCase struct {
	PromptIDs []int32 `json:"prompt_ids"`
	Logits    []float64
	Greedy    []int32
	Logprobs  []float64
	Gap       []float64
}

func tinyGolden(t *testing.T) []tinyCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "checkpoint", "tiny", "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g struct{ Cases []tinyCase }
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g.Cases
}

// TestTinyModelIsTheReference computes the golden's prompts with their greedy tokens, as prompts: the
// tokens that the reference in float32 is sure of are the most likely ones here.
func TestTinyModelIsTheReference(t *testing.T) {
	m, set := loadModel(t, "tiny")
	j := newJudge(t, Config{Device: emulated(t), Model: m, Weights: set, MaxContext: 256, MaxTokens: 256, MaxSlots: 2})
	worst, sure := 0.0, 0
	for i, c := range tinyGolden(t) {
		j.run(c.PromptIDs)
		off := furthest(j.logits, c.Logits)
		if !(off <= tinyBound) {
			t.Errorf("case %d: logits differ by %g", i, off)
		}
		worst = max(worst, off)
		told := j.run(slices.Concat(c.PromptIDs, c.Greedy))[len(c.PromptIDs)-1:]
		for k, gap := range c.Gap {
			if gap < tinyLead {
				continue
			}
			sure++
			if got := told[k].Top[0].ID; got != c.Greedy[k] {
				t.Errorf("case %d: token %d is %d, want %d, which leads by %g", i, k, got, c.Greedy[k], gap)
			}
		}
	}
	if sure < 100 {
		t.Errorf("the golden is sure of %d tokens: nothing is shown", sure)
	}
	t.Logf("golden: tiny on the fake driver: logits differ by %.2g at most, %d sure tokens equal", worst, sure)
}
