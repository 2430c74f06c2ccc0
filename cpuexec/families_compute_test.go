package cpuexec

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
)

// TestFamiliesInAllComputeTypes computes each family with weights in fewer bits: a
// prompt's logits have the same bits alone and in company, in any chunks, and those in bf16
// are near the reference's. Of random models those in 8 and 4 bits are off by what their
// bits say, and are not judged here.
func TestFamiliesInAllComputeTypes(t *testing.T) {
	for _, m := range familytest.Models(t) {
		t.Run(m.Name, func(t *testing.T) {
			c, set := loadModel(t, m.Folder(t))
			g := m.Golden(t)
			for _, cfg := range []Config{{Compute: ComputeBF16}, {Compute: ComputeInt8}, {Compute: ComputeInt8, Quantize: QuantizeQ4}, {Compute: ComputeInt8, Quantize: QuantizeColumn}} {
				cfg.Model, cfg.Weights, cfg.Threads, cfg.MaxContext, cfg.MaxTokens, cfg.PageSize = c, set, 2, 256, 64, 16
				alone, together := make([]*sequence, len(g.Prompts)), make([]*sequence, len(g.Prompts))
				worst := 0.0
				for i, p := range g.Prompts {
					alone[i], together[i] = &sequence{ids: slices.Clone(p), limit: 4}, &sequence{ids: slices.Clone(p), limit: 4}
					newDriver(t, cfg, 64, true).run(alone[i])
					worst = max(worst, furthest(alone[i].logits[0], g.Logits[i]))
				}
				d := newDriver(t, cfg, 7, true)
				d.e.step.alone = 0 // all threads, however small the model
				d.run(together...)
				for i := range together {
					for j := range together[i].logits {
						if !slices.Equal(together[i].logits[j], alone[i].logits[j]) {
							t.Errorf("%s %s: prompt %d: logits of token %d depend on the company", cfg.Compute, cfg.Quantize, i, j)
						}
					}
				}
				t.Logf("%s %s: logits differ by %.2g at most", cfg.Compute, cfg.Quantize, worst)
				if cfg.Compute == ComputeBF16 && !(worst < 0.05) {
					t.Errorf("logits in bf16 differ by %g", worst)
				}
			}
		})
	}
}
