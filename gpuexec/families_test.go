package gpuexec

import (
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
)

// familyBound is what logits of a random model of a family may be off by in bf16, activations and cache
// too. They reach from about -3 to 3.
const familyBound = 0.08

// TestFamiliesAreNearTheReference computes the prompts of each family. Where a token's experts score alike,
// rounding may take another one: of models with experts the prompt in the middle is judged.
func TestFamiliesAreNearTheReference(t *testing.T) {
	dev := emulated(t)
	for _, m := range familytest.Models(t) {
		if testing.Short() && !strings.HasSuffix(m.Name, "-odd") {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			c, set := loadModel(t, m.Folder(t))
			g := m.Golden(t)
			j := newJudge(t, Config{Device: dev, Model: c, Weights: set, MaxMemory: 64 << 20, MaxContext: 256, MaxTokens: 128, MaxSlots: 2, PageSize: 8})
			off := make([]float64, len(g.Prompts))
			for i, p := range g.Prompts {
				j.run(p)
				off[i] = furthest(j.logits, g.Logits[i])
			}
			t.Logf("golden: %s on the fake driver: logits differ by %.2g", m.Name, off)
			judged := slices.Max(off)
			if c.MoE != nil {
				slices.Sort(off)
				judged = off[len(off)/2]
			}
			if !(judged < familyBound) {
				t.Errorf("logits differ by %g", judged)
			}
		})
	}
}
