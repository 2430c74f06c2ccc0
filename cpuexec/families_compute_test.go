package cpuexec

import (
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
)

// TestFamiliesInAllComputeTypes computes each family with weights in fewer bits: a
// prompt's logits have the same bits alone and in company, in any chunks. (How near they are to
// the reference's is what TestFamiliesInFewerBits judges.)
func TestFamiliesInAllComputeTypes(t *testing.T) {
	for _, m := range familytest.Models(t) {
		if testing.Short() && !strings.HasSuffix(m.Name, "-odd") {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			c, set := loadModel(t, m.Folder(t))
			g := m.Golden(t)
			for _, cfg := range []Config{{Compute: ComputeBF16}, {Compute: ComputeInt8}, {Compute: ComputeInt8, Quantize: QuantizeQ4}, {Compute: ComputeInt8, Quantize: QuantizeColumn}} {
				cfg.Model, cfg.Weights, cfg.Threads, cfg.MaxContext, cfg.MaxTokens, cfg.PageSize = c, set, 2, 256, 64, 16
				alone, together := make([]*sequence, len(g.Prompts)), make([]*sequence, len(g.Prompts))
				for i, p := range g.Prompts {
					alone[i], together[i] = &sequence{ids: slices.Clone(p), limit: 4}, &sequence{ids: slices.Clone(p), limit: 4}
					newDriver(t, cfg, 64, true).run(alone[i])
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
			}
		})
	}
}

// TestFamiliesAllocateNothing decodes models with experts, norms of queries, norms around
// and two rotary embeddings, with packed activations and a Profile, which counts experts.
func TestFamiliesAllocateNothing(t *testing.T) {
	for _, m := range familytest.Models(t) {
		if m.Name != "gpt-oss-odd" && m.Name != "gemma3" && m.Name != "qwen3-moe" {
			continue
		}
		c, set := loadModel(t, m.Folder(t))
		for _, compute := range []Compute{ComputeF32, ComputeInt8} {
			p := new(Profile)
			d := newDriver(t, Config{Model: c, Weights: set, Threads: 2, MaxSlots: 3, Compute: compute, Profile: p}, 256, false)
			d.e.step.alone = 0
			if got := allocations(t, 40, d.decode(randomSequences(c, 3, 20, 200))); got > 0 {
				t.Errorf("%s, %s: %d allocations in 40 steps", m.Name, compute, got)
			}
			if k := p.Of(Decode); c.MoE != nil && k.Work[OpDown].Ops != 2*k.Tokens*int64(c.Layers*c.MoE.PerToken*c.MoE.Intermediate*c.Hidden) {
				t.Errorf("%s: %d operations of experts are counted in %d tokens", m.Name, k.Work[OpDown].Ops, k.Tokens)
			}
		}
	}
}
