package checkpoint

import (
	"strconv"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// ropeFreqs has divisors of the rotary frequencies: settings in a tensor's clothes.
const ropeFreqs = "rope_freqs.weight"

// ggufNames are the Hugging Face names of GGUF's tensors, without ".weight".
var ggufNames = map[string]string{
	"token_embd":  "model.embed_tokens",
	"output_norm": "model.norm",
	"output":      "lm_head",
}

// ggufLayerNames are those of a layer, after "blk.<n>.".
var ggufLayerNames = map[string]string{
	"attn_norm":   "input_layernorm",
	"attn_q":      "self_attn.q_proj",
	"attn_k":      "self_attn.k_proj",
	"attn_v":      "self_attn.v_proj",
	"attn_output": "self_attn.o_proj",
	"ffn_norm":    "post_attention_layernorm",
	"ffn_gate":    "mlp.gate_proj",
	"ffn_up":      "mlp.up_proj",
	"ffn_down":    "mlp.down_proj",
}

// hfName translates a GGUF tensor name.
func hfName(name string) (string, bool) {
	base, kind := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		base, kind = name[:i], name[i:]
	}
	if kind != ".weight" && kind != ".bias" {
		return "", false
	}
	rest, layered := strings.CutPrefix(base, "blk.")
	if !layered {
		hf, ok := ggufNames[base]
		return hf + kind, ok && kind == ".weight"
	}
	number, base, _ := strings.Cut(rest, ".")
	layer, err := strconv.ParseUint(number, 10, 16)
	hf, ok := ggufLayerNames[base]
	if err != nil || !ok || number != strconv.FormatUint(layer, 10) { // one name for one layer
		return "", false
	}
	return model.LayerPrefix(int(layer)) + hf + kind, true
}
