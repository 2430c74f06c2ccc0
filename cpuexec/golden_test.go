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

// TestFamilies compares logits and greedy tokens with the goldens, alone and all
// prompts together, on every instruction set.
func TestFamilies(t *testing.T) {
	for _, name := range families {
		t.Run(name, func(t *testing.T) {
			m, set := loadModel(t, family(name))
			var g familyGolden
			readJSON(t, filepath.Join(family(name), "golden.json"), &g)
			for _, kernels := range kernelNames() {
				t.Run(kernels, func(t *testing.T) {
					cfg := Config{Model: m, Weights: set, Threads: 2, Kernels: kernels, MaxContext: 256, MaxTokens: 64}
					all := make([]*sequence, len(g.Prompts))
					for i, p := range g.Prompts {
						alone := &sequence{ids: slices.Clone(p), limit: 24}
						newDriver(t, cfg, 64, true).run(alone)
						g.check(t, i, alone)
						all[i] = &sequence{ids: slices.Clone(p), limit: 24}
					}
					newDriver(t, cfg, 64, true).run(all...)
					for i, s := range all {
						g.check(t, i, s)
					}
				})
			}
		})
	}
}

func (g *familyGolden) check(t *testing.T, i int, s *sequence) {
	t.Helper()
	if d := furthest(s.logits[0], g.Logits[i]); d > 2e-4 || math.IsNaN(d) {
		t.Errorf("prompt %d: logits differ by %g", i, d)
	}
	if g.MinGap[i] > 1e-3 && !slices.Equal(s.out(), g.Greedy[i]) {
		t.Errorf("prompt %d: tokens %v, want %v", i, s.out(), g.Greedy[i])
	}
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

// TestTiny compares the embedded model with its golden: tokens up to the first
// place where the two best logits lie closer than 0.01.
func TestTiny(t *testing.T) {
	m, set := loadModel(t, "tiny")
	var g tinyGolden
	readJSON(t, filepath.Join("..", "checkpoint", "tiny", "golden.json"), &g)
	d := newDriver(t, Config{Model: m, Weights: set, Threads: 2, MaxContext: 256}, 512, true)
	for i, c := range g.Cases {
		s := &sequence{ids: slices.Clone(c.PromptIDs), limit: len(c.Greedy)}
		d.run(s)
		if d := furthest(s.logits[0], c.Logits); d > 1e-3 || math.IsNaN(d) {
			t.Errorf("case %d: logits differ by %g", i, d)
		}
		n := slices.IndexFunc(c.Gap, func(gap float64) bool { return gap < 0.01 })
		if n < 0 {
			n = len(c.Gap)
		}
		if !slices.Equal(s.out()[:n], c.Greedy[:n]) {
			t.Errorf("case %d: tokens %v, want %v", i, s.out()[:n], c.Greedy[:n])
		}
	}
}
