package cpuexec

import (
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/sampling"
)

// judged says how far what is computed in fewer bits may be from the reference, teacher-forced:
// over a golden's prompt and tokens as one prompt. The figures are less than twice what was
// measured of any model of the formula, which stands beside them.
type judged struct {
	cfg  Config
	nll  float64 // of the mean negative log-probability of a prompt's tokens
	rms  float64 // of the log-probabilities, root mean square
	lead float64 // over the second best in float32, from which the best stays the best
}

var judgements = []judged{
	{bf16, 0.025, 0.03, 0.1},   // 0.014, 0.015
	{int8q8, 0.07, 0.1, 0.2},   // 0.040, 0.067
	{int8q4, 0.6, 0.8, 1.2},    // 0.39, 0.50
	{column, 0.035, 0.1, 0.25}, // 0.019, 0.057
}

// TestFamiliesInFewerBits judges each family, in every type that products are computed in, by
// the reference's golden: mean log-probability and best token. Where a token's experts score
// alike, rounding takes another one: of a model with experts the middle prompt is judged, and
// no best token.
func TestFamiliesInFewerBits(t *testing.T) {
	models := familytest.Made(t)
	if testing.Short() {
		models = slices.DeleteFunc(models, func(m familytest.Model) bool {
			return !slices.Contains([]string{"gemma3-odd", "gpt-oss-odd", "llama-odd", "olmo2-odd"}, m.Name)
		})
	}
	ran, sure := 0, make([]int, len(judgements))
	for _, m := range models {
		t.Run(m.Name, func(t *testing.T) {
			c, set := loadModel(t, m.Folder(t))
			g, cfg := m.Golden(t), Config{Model: c, Weights: set, Threads: 2, MaxContext: 256, MaxTokens: 64, PageSize: 16}
			exact := forced(t, cfg, g)
			ran++
			for n, j := range judgements {
				cfg.Compute, cfg.Quantize = j.cfg.Compute, j.cfg.Quantize
				var all verdicts
				for i, told := range forced(t, cfg, g) {
					all.add(told, exact[i], g, i, j.lead)
				}
				nll, rms := all.worst()
				if c.MoE != nil {
					nll, rms = all.middle()
				}
				t.Logf("%s %s: mean log-probabilities differ by %.4f, single ones by %.4f, %d of %d best tokens are others", j.cfg.Compute, j.cfg.Quantize, nll, rms, all.others, all.sure)
				if !(nll <= j.nll) || !(rms <= j.rms) {
					t.Errorf("%s %s: mean log-probabilities differ by %g, single ones by %g", j.cfg.Compute, j.cfg.Quantize, nll, rms)
				}
				if c.MoE == nil {
					sure[n] += all.sure
					if all.others > 0 {
						t.Errorf("%s %s: of %d tokens that lead by %g %d are not the best", j.cfg.Compute, j.cfg.Quantize, all.sure, j.lead, all.others)
					}
				}
			}
		})
	}
	if ran == len(models) && !testing.Short() && slices.Min(sure) < 20 {
		t.Errorf("%v tokens are sure, which shows nothing", sure)
	}
}

// forced is what is told of each golden token, prompt by prompt.
func forced(t *testing.T, cfg Config, g *familytest.Golden) [][]sampling.Drawn {
	t.Helper()
	all, list := make([]*sequence, len(g.Prompts)), make([][]sampling.Drawn, len(g.Prompts))
	for i, p := range g.Prompts {
		all[i] = &sequence{ids: slices.Concat(p, g.Greedy[i]), limit: 1, sampling: sampling.Params{Tell: sampling.Tell{Logprobs: true, Top: 2, Prompt: true}}}
	}
	newDriver(t, cfg, 64, true).run(all...)
	for i, s := range all {
		list[i] = s.scores[len(s.scores)-len(g.Greedy[i]):]
	}
	return list
}

// verdicts are those of prompts.
type verdicts struct {
	nll, rms     []float64
	sure, others int // tokens that lead, and those of them that are not the best
}

// add judges the tokens of prompt i.
func (v *verdicts) add(told, exact []sampling.Drawn, g *familytest.Golden, i int, lead float64) {
	sum, squares := 0.0, 0.0
	for j, want := range g.Logprobs[i] {
		off := float64(told[j].Raw) - want
		sum, squares = sum+off, squares+off*off
		if top := exact[j].Top; float64(top[0].Raw-top[1].Raw) > lead {
			v.sure++
			if told[j].Top[0].ID != g.Greedy[i][j] {
				v.others++
			}
		}
	}
	n := float64(len(told))
	v.nll, v.rms = append(v.nll, math.Abs(sum/n)), append(v.rms, math.Sqrt(squares/n))
}

// worst is that of the prompt that is furthest off.
func (v *verdicts) worst() (nll, rms float64) { return slices.Max(v.nll), slices.Max(v.rms) }

// middle is that of the middle prompt.
func (v *verdicts) middle() (nll, rms float64) {
	return slices.Sorted(slices.Values(v.nll))[len(v.nll)/2], slices.Sorted(slices.Values(v.rms))[len(v.rms)/2]
}
