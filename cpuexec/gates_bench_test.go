package cpuexec

import (
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// Models with other gates than Llama's, in the sizes of a few layers of Gemma 2's and
// gpt-oss's kind.
var gemmaLike = model.Config{
	Family: "gemma2", Vocab: 64000, Hidden: 1152, Intermediate: 6912, Layers: 4, Heads: 4, KVHeads: 1, HeadDim: 256,
	MaxPosition: 1024, NormEps: 1e-6, NormOffset: 1, Norms: model.NormAround, Rope: model.Rope{Kind: model.RopeDefault, Theta: 10000}, TiedHead: true,
	Activation: model.GELUTanh, AttnSoftcap: 50, LogitSoftcap: 30, EmbedScale: 33.9,
}

var gptOSSLike = model.Config{
	Family: "gpt_oss", Vocab: 32000, Hidden: 960, Intermediate: 960, Layers: 4, Heads: 16, KVHeads: 2, HeadDim: 64,
	MaxPosition: 1024, NormEps: 1e-5, Rope: model.Rope{Kind: model.RopeDefault, Theta: 10000}, AttnBias: true, Sinks: true,
	Activation: model.ClampedSiLU, MoE: &model.MoE{Experts: 8, PerToken: 4, Intermediate: 960, ChosenOnly: true, RouterBias: true},
}

// BenchmarkGates computes prompts of 256 tokens and decodes 8 sequences with such models.
func BenchmarkGates(b *testing.B) {
	for what, c := range map[string]model.Config{"gemma2": gemmaLike, "gpt-oss": gptOSSLike} {
		m := newSynthetic(c)
		set, err := weights.Load(&m.Config, m, 1, "test")
		if err != nil {
			b.Fatal(err)
		}
		cfg := Config{Model: &m.Config, Weights: set, Threads: 2, MaxSlots: 8, MaxContext: 512, Compute: ComputeInt8, KVType: KVBF16}
		b.Run(what+"/prompt", func(b *testing.B) {
			e := start(b, cfg)
			var took []time.Duration
			for i := range b.N {
				batch := contexts(1, 256, 256)
				batch.Step, batch.Retire = uint64(i+1), []executor.Slot{0}
				runBatch(b, e, batch)
				took = append(took, e.took)
			}
			report(b, took, 256)
		})
		b.Run(what+"/decode", func(b *testing.B) {
			e := start(b, cfg)
			var took []time.Duration
			for i := range b.N {
				took = append(took, decode(b, e, uint64(32*i+1), 8, 80, 32)...)
			}
			report(b, took, 8)
		})
	}
}
