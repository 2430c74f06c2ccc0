package cpuexec

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
)

// furthest is the largest difference of two rows of logits.
func furthest(got []float32, want []float64) float64 {
	most := 0.0
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= most) {
			most = d // a NaN too
		}
	}
	return most
}

// tinyGolden is golden.json of the embedded model.
type tinyGolden struct {
	Cases []struct {
		PromptIDs []int32 `json:"prompt_ids"`
		Logits    []float64
		Greedy    []int32
		Gap       []float64
	}
}

// TestTinyModelIsTheReference compares the embedded model with its golden: tokens up to the first
// place where the two best logits lie closer than 0.01.
func TestTinyModelIsTheReference(t *testing.T) {
	m, set := loadModel(t, "tiny")
	var g tinyGolden
	readJSON(t, filepath.Join("..", "checkpoint", "tiny", "golden.json"), &g)
	d := newDriver(t, Config{Model: m, Weights: set, Threads: 2, MaxContext: 256}, 512, true)
	worst, tokens := 0.0, 0
	for i, c := range g.Cases {
		s := &sequence{ids: slices.Clone(c.PromptIDs), limit: len(c.Greedy)}
		d.run(s)
		off := furthest(s.logits[0], c.Logits)
		if off > 1e-3 || math.IsNaN(off) {
			t.Errorf("case %d: logits differ by %g", i, off)
		}
		worst = max(worst, off)
		n := slices.IndexFunc(c.Gap, func(gap float64) bool { return gap < 0.01 })
		if n < 0 {
			n = len(c.Gap)
		}
		if !slices.Equal(s.out()[:n], c.Greedy[:n]) {
			t.Errorf("case %d: tokens %v, want %v", i, s.out()[:n], c.Greedy[:n])
		}
		tokens += n
	}
	t.Logf("golden: tiny: logits differ by %.2g at most, %d greedy tokens equal", worst, tokens)
}
