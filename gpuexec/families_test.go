package gpuexec

import (
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
)

// familyBound is what logits of a random model of a family may be off by in bf16, activations and cache
// too. They reach from about -3 to 3.
const familyBound = 0.08

// TestFamiliesAreNearTheReference computes the prompts of each family.
func TestFamiliesAreNearTheReference(t *testing.T) {
	dev := emulated(t)
	for _, m := range familytest.Models(t) {
		if testing.Short() && !strings.HasSuffix(m.Name, "-odd") {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			c, set := loadModel(t, m.Folder(t))
			j := newJudge(t, Config{Device: dev, Model: c, Weights: set, MaxMemory: 64 << 20, MaxContext: 256, MaxTokens: 128, MaxSlots: 2, PageSize: 8})
			judged := j.far(m.Golden(t), c.MoE != nil)
			if !(judged < familyBound) {
				t.Errorf("logits differ by %g", judged)
			}
		})
	}
}
