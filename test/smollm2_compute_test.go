package test

import (
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/weights"
)

// What is computed otherwise than in float32 is judged on the reference's own tokens: by the
// mean negative log-likelihood of a text, and by the first choice wherever the
// reference's leads by more than a bound. The bounds of one scale for a column are what it
// was measured to lose, and a little.
func TestSmolLM2Computes(t *testing.T) {
	for _, k := range []struct {
		name      string
		cfg       cpuexec.Config
		nll, lead float64
	}{
		{"int8", cpuexec.Config{Compute: cpuexec.ComputeInt8}, 0.02, 0.7},
		{"int8 over a cache in int8", cpuexec.Config{Compute: cpuexec.ComputeInt8, KVType: cpuexec.KVInt8}, 0.02, 0.7},
		{"bf16", cpuexec.Config{Compute: cpuexec.ComputeBF16}, 0.01, 0.3},
		{"int8 column", cpuexec.Config{Compute: cpuexec.ComputeInt8, Quantize: cpuexec.QuantizeColumn}, 0.06, 1},
		{"int8 column over a cache in int8", cpuexec.Config{Compute: cpuexec.ComputeInt8, Quantize: cpuexec.QuantizeColumn, KVType: cpuexec.KVInt8}, 0.06, 1},
		{"bf16 over a cache in bf16", cpuexec.Config{Compute: cpuexec.ComputeBF16, KVType: cpuexec.KVBF16}, 0.01, 0.3},
	} {
		t.Run(k.name, func(t *testing.T) {
			g, c := smol(t)
			set, err := weights.Load(c.Config, c, 1, "")
			if err != nil {
				t.Fatal(err)
			}
			k.cfg.Model, k.cfg.Weights = c.Config, set
			f := newForced(t, k.cfg)
			nll := f.likelihood(g.NLLIDs)
			if !(math.Abs(nll-g.NLL) <= k.nll) {
				t.Errorf("mean negative log-likelihood %g, want %g within %g", nll, g.NLL, k.nll)
			}
			compared, other, lead := g.choices(f)
			t.Logf("golden: smollm2 in %s: mean negative log-likelihood %.6f, reference %.6f; of %d first choices %d are others, the surest by a lead of %.3f",
				k.name, nll, g.NLL, compared, other, lead)
			if lead > k.lead {
				t.Errorf("another first choice where the reference's leads by %g, more than %g", lead, k.lead)
			}
		})
	}
}

// choices counts the first choices behind the beginnings of the reference's texts, those
// that are not the reference's, and tells the largest lead of those.
func (g *smolGolden) choices(f *forced) (compared, other int, lead float64) {
	f.t.Helper()
	for _, k := range g.Cases {
		first := len(k.PromptIDs) - 1
		f.every(slices.Concat(k.PromptIDs, k.Greedy), first, func(i int, logits []float32) {
			compared++
			if slices.Index(logits, slices.Max(logits)) != int(k.Greedy[i-first]) {
				other++
				lead = max(lead, k.Gap[i-first])
			}
		})
	}
	return compared, other, lead
}
