package main

import (
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/model"
)

// Each option that a model has is told, and none that it does without.
func TestOptionsOf(t *testing.T) {
	plain := model.Config{Layers: 4, HeadDim: 64, Intermediate: 100, NormEps: 1e-5, Rope: model.Rope{Kind: model.RopeDefault, Theta: 10000}, TiedHead: true}
	rich := plain
	rich.Window, rich.Attn = 512, []model.Attention{model.Sliding, model.Full, model.Sliding, model.Full}
	rich.Rope = model.Rope{Kind: model.RopeYarn, Theta: 5e5, Factor: 8}
	rich.SlidingRope, rich.RotaryDim, rich.NoRope = &model.Rope{Kind: model.RopeDefault, Theta: 1e4}, 32, []bool{false, false, false, true}
	rich.QKNorm, rich.AttnScale, rich.AttnSoftcap, rich.Sinks = model.QKNormHead, 0.5, 50, true
	rich.Activation, rich.MoE = model.ClampedSiLU, &model.MoE{Experts: 8, PerToken: 2, Intermediate: 30, RouterBias: true}
	rich.Norms, rich.NormOffset = model.NormAround, 1
	rich.AttnBias, rich.OutNoBias, rich.MLPBias, rich.TiedHead = true, true, true, false
	rich.EmbedScale, rich.ResidualScale, rich.LogitScale, rich.LogitSoftcap = 24, 0.5, 1, 30
	for _, x := range []struct {
		of   model.Config
		want []string
	}{
		{plain, []string{
			"positions: rotary, base 10000", "mlp: 100 wide, gated by SiLU",
			"norms: root mean square before attention and MLP, epsilon 1e-05", "head: the embedding",
		}},
		{rich, []string{
			"window: 512 tokens in 2 of 4 layers",
			"positions: rotary, base 500000, yarn with factor 8; of sliding layers rotary, base 10000; the first 32 of a head; none in 1 of 4 layers",
			"queries and keys: each head normalised, product times 0.5, capped softly at 50, with sinks",
			"experts: 8, each 30 wide and gated by SiLU, clamped, 2 for a token",
			"norms: root mean square before and after attention and MLP, epsilon 1e-05, weights plus 1",
			"biases: queries, keys and values, MLP, router and experts",
			"scales: embeddings times 24, residuals times 0.5, logits capped softly at 30", "head: its own",
		}},
	} {
		var got []string
		for _, o := range optionsOf(&x.of) {
			got = append(got, o.Name+": "+o.Value)
		}
		if g, w := strings.Join(got, "\n"), strings.Join(x.want, "\n"); g != w {
			t.Errorf("got\n%s\nwant\n%s", g, w)
		}
	}
}

func TestPartOf(t *testing.T) {
	for name, want := range map[string]string{
		"model.embed_tokens.weight": "embedding", "lm_head.weight": "head", "model.norm.weight": "norms",
		"model.layers.0.self_attn.q_proj.weight": "attention", "model.layers.0.self_attn.q_norm.weight": "norms",
		"model.layers.0.mlp.down_proj.weight": "MLP", "model.layers.0.mlp.experts.3.down_proj.weight": "experts",
		"model.layers.0.block_sparse_moe.gate.weight": "experts", "model.layers.0.mlp.router.weight": "experts", "x": "other",
	} {
		if got := partOf(name); got != want {
			t.Errorf("%s is of %s, want %s", name, got, want)
		}
	}
}

func TestChatOf(t *testing.T) {
	for template, want := range map[string]string{
		"":                                 "no chat template",
		"{{ messages }}":                   "chat template",
		"{% if tools %}":                   "chat template with tools",
		"{% if enable_thinking %}":         "chat template with thinking",
		"<think>{% if tools %}{% endif %}": "chat template with tools and thinking",
	} {
		if got := chatOf(template).String(); got != want {
			t.Errorf("%q is a %s, want %s", template, got, want)
		}
	}
}

func TestTokenizerKind(t *testing.T) {
	for file, want := range map[string]string{`{"model":{"type":"Unigram"}}`: "Unigram", `{"model":{}}`: "BPE", `{}`: "unreadable", `{`: "unreadable"} {
		if got := tokenizerKind(&checkpoint.Checkpoint{TokenizerJSON: []byte(file)}); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
