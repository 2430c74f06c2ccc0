package checkpoint

import "slices"

// ggufArch is an architecture of GGUF files: how its settings are said in config.json, and
// what llama.cpp's converter (conversion/*.py) does to its tensors.
type ggufArch struct {
	name        string                                     // general.architecture
	keys        []string                                   // of settings beside commonKeys
	family      func(f *ggufFields) string                 // model_type
	settings    func(f *ggufFields, fields map[string]any) // adds to those of all; nil: nothing
	interleaved bool                                       // the two halves of the rows of each head of q and k take turns
	raised      bool                                       // norms have 1 added, which the family adds by itself
	fused       bool                                       // q, k and v are one tensor, gate and up are
}

// commonKeys are settings of all architectures that are understood or change nothing. Any
// that is neither here nor among the architecture's is refused: it might change what the
// model computes.
var commonKeys = []string{
	"vocab_size", "context_length", "embedding_length", "block_count", "feed_forward_length", "tensor_data_layout",
	"attention.head_count", "attention.head_count_kv", "attention.key_length", "attention.value_length",
	"attention.layer_norm_rms_epsilon",
	"rope.dimension_count", "rope.freq_base", "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear",
	"rope.scaling.original_context_length", "rope.scaling.finetuned", "rope.scaling.attn_factor",
	"rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow",
}

var ggufArchs = []ggufArch{{
	name: "llama",
	keys: []string{"expert_count", "expert_used_count"},
	family: func(f *ggufFields) string {
		if f.number("llama.expert_count", 0) > 0 {
			return "mixtral"
		}
		return "llama"
	},
	settings:    (*ggufFields).llamaSettings,
	interleaved: true,
}, {
	name: "qwen2", family: always("qwen2"),
}, {
	name: "qwen3", family: always("qwen3"), settings: (*ggufFields).biases,
}, {
	name: "qwen3moe", family: always("qwen3_moe"),
	keys: []string{"expert_count", "expert_used_count", "expert_feed_forward_length"},
	settings: func(f *ggufFields, fields map[string]any) {
		f.biases(fields)
		f.experts("qwen3moe", fields)
		fields["norm_topk_prob"] = true // llama.cpp takes no other
		fields["moe_intermediate_size"] = f.number("qwen3moe.expert_feed_forward_length", 0)
	},
}, {
	name: "gemma2", family: always("gemma2"), raised: true,
	keys: []string{"attn_logit_softcapping", "final_logit_softcapping", "attention.sliding_window"},
	settings: func(f *ggufFields, fields map[string]any) {
		f.gemma("gemma2", 46, fields)
		fields["sliding_window"] = f.number("gemma2.attention.sliding_window", 4096)
		fields["attn_logit_softcapping"] = f.float("gemma2.attn_logit_softcapping", 50)
		fields["final_logit_softcapping"] = f.float("gemma2.final_logit_softcapping", 30)
	},
}, {
	name: "gemma3", family: always("gemma3_text"), raised: true,
	keys: []string{"final_logit_softcapping", "attention.sliding_window", "rope.freq_base_swa"},
	settings: func(f *ggufFields, fields map[string]any) {
		f.gemma("gemma3", 62, fields)
		fields["sliding_window"] = orNull(f.number("gemma3.attention.sliding_window", 0))
		fields["rope_local_base_freq"] = f.float("gemma3.rope.freq_base_swa", 10000)
		fields["final_logit_softcapping"] = orNull(f.float("gemma3.final_logit_softcapping", 0))
	},
}, {
	name: "phi3", family: always("phi3"), fused: true,
	keys: []string{"attention.sliding_window"},
	settings: func(f *ggufFields, fields map[string]any) {
		fields["sliding_window"] = orNull(f.number("phi3.attention.sliding_window", 0))
		if dim, ok := fields["head_dim"].(int); ok && dim > 0 {
			fields["partial_rotary_factor"] = float64(f.number("phi3.rope.dimension_count", dim)) / float64(dim)
		}
	},
}}

func always(family string) func(*ggufFields) string {
	return func(*ggufFields) string { return family }
}

// orNull is null for 0, which in GGUF means none.
func orNull[T int | float64](x T) any {
	if x == 0 {
		return nil
	}
	return x
}

// llamaSettings are those of Llama, Mistral and Mixtral. What the converter makes of Mistral
// has no window: releases since 0.2 have none.
func (f *ggufFields) llamaSettings(fields map[string]any) {
	if fields["model_type"] == "mixtral" {
		f.experts("llama", fields)
		return
	}
	f.biases(fields)
	fields["mlp_bias"] = f.tensors["blk.0.ffn_gate.bias"] != nil
}

func (f *ggufFields) biases(fields map[string]any) {
	fields["attention_bias"] = f.tensors["blk.0.attn_q.bias"] != nil
}

func (f *ggufFields) experts(arch string, fields map[string]any) {
	fields["num_local_experts"] = f.number(arch+".expert_count", 0)
	fields["num_experts_per_tok"] = f.number(arch+".expert_used_count", 0)
}

// gemma scales products of queries and keys as llama.cpp does (src/models/gemma*.cpp), as
// files do not tell it: by the head dimension, but by the hidden size over the heads in the
// model of the most layers, 27B.
func (f *ggufFields) gemma(arch string, layersOf27B int, fields map[string]any) {
	fields["query_pre_attn_scalar"] = fields["head_dim"]
	heads := f.number(arch+".attention.head_count", 0)
	if f.number(arch+".block_count", 0) == layersOf27B && heads > 0 {
		fields["query_pre_attn_scalar"] = f.number(arch+".embedding_length", 0) / heads
	}
}

// findArch finds the architecture of a file.
func findArch(name string) (*ggufArch, bool) {
	i := slices.IndexFunc(ggufArchs, func(a ggufArch) bool { return a.name == name })
	if i < 0 {
		return nil, false
	}
	return &ggufArchs[i], true
}
