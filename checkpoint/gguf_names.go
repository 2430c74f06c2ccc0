package checkpoint

import (
	"strconv"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// ropeFreqs has divisors of the rotary frequencies: settings in a tensor's clothes.
const ropeFreqs = "rope_freqs.weight"

// ggufNames are the Hugging Face names of GGUF's tensors that are not of a layer.
var ggufNames = map[string]string{
	"token_embd.weight":  "model.embed_tokens.weight",
	"output_norm.weight": "model.norm.weight",
	"output.weight":      "lm_head.weight",
}

// ggufModules are those of a layer's linear layers, after "blk.<n>.", without ".weight" or
// ".bias".
var ggufModules = map[string]string{
	"attn_q":      "self_attn.q_proj",
	"attn_k":      "self_attn.k_proj",
	"attn_v":      "self_attn.v_proj",
	"attn_output": "self_attn.o_proj",
	"ffn_gate":    "mlp.gate_proj",
	"ffn_up":      "mlp.up_proj",
	"ffn_down":    "mlp.down_proj",
}

// ggufFused are those that are called otherwise where q, k and v are one, and gate and up.
var ggufFused = map[string]string{
	"attn_qkv":    "self_attn.qkv_proj",
	"attn_output": "self_attn.o_proj",
	"ffn_up":      "mlp.gate_up_proj",
	"ffn_down":    "mlp.down_proj",
}

// ggufNorms are a layer's norms in the order of model.Config.LayerNorms.
var ggufNorms = [4]string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"}

// ggufExperts are the modules of all experts of a layer in one tensor each.
var ggufExperts = map[string]string{"ffn_gate_exps": "gate_proj", "ffn_up_exps": "up_proj", "ffn_down_exps": "down_proj"}

// ggufPlace is what a tensor of a layer is: its Hugging Face name, or a module of all
// experts.
type ggufPlace struct {
	name    string
	layer   int
	experts string // a module; "": none
}

// place translates a GGUF tensor name.
func (a *ggufArch) place(name string, cfg *model.Config) (ggufPlace, bool) {
	if hf, ok := ggufNames[name]; ok {
		return ggufPlace{name: hf}, true
	}
	rest, ok := strings.CutPrefix(name, "blk.")
	number, rest, _ := strings.Cut(rest, ".")
	layer, err := strconv.Atoi(number)
	if !ok || err != nil || layer < 0 || layer >= cfg.Layers || number != strconv.Itoa(layer) { // one name for one layer
		return ggufPlace{}, false
	}
	p := ggufPlace{layer: layer}
	base, kind, _ := strings.Cut(rest, ".")
	modules := ggufModules
	if a.fused {
		modules = ggufFused
	}
	switch module := modules[base]; {
	case module != "" && (kind == "weight" || kind == "bias"):
		p.name = model.LayerPrefix(layer) + module + "." + kind
	case kind == "weight":
		p.name, p.experts = weightOf(base, layer, cfg)
	}
	return p, p.name != "" || p.experts != ""
}

// weightOf is a tensor without a bias: a norm, the router, or a module of all experts.
func weightOf(base string, layer int, cfg *model.Config) (name, experts string) {
	for i, norm := range cfg.LayerNorms(layer) {
		if base == ggufNorms[i] {
			return norm, ""
		}
	}
	switch {
	case cfg.QKNorm != model.QKNormNone && (base == "attn_q_norm" || base == "attn_k_norm"):
		return model.LayerPrefix(layer) + "self_attn." + strings.TrimPrefix(base, "attn_") + ".weight", ""
	case cfg.HasExperts(layer) && base == "ffn_gate_inp":
		return model.LayerPrefix(layer) + cfg.Router() + ".weight", ""
	case cfg.HasExperts(layer):
		return "", ggufExperts[base]
	}
	return "", ""
}
