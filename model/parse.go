package model

import (
	"encoding/json"
	"slices"
)

// Largest sizes that are taken for real. They keep every product of two of them
// far from overflow.
const (
	maxVocab   = 1 << 24
	maxWidth   = 1 << 20 // hidden and intermediate size
	maxLayers  = 1 << 12
	maxHeads   = 1 << 12
	maxHeadDim = 1 << 12
	maxContext = 1 << 30
)

// ParseConfig reads a config.json of the Hugging Face libraries. What it leaves
// out has the reference implementation's default, sizes excepted. Errors wrap
// ErrConfig (nonsense) or ErrUnsupported (a family, an option or a field that is
// not implemented, named).
func ParseConfig(js []byte) (*Config, error) {
	f := newFields(js)
	architectures := values[string](f, "architectures")
	modelType := value(f, "model_type", "")
	if f.err != nil {
		return nil, f.err
	}
	row, nested, err := familyOf(architectures, modelType)
	if err != nil {
		return nil, err
	}
	if nested {
		f.enter("text_config")
	}
	c := row.parse(f)
	if f.err != nil {
		return nil, f.err
	}
	return c, c.Validate()
}

// parse reads the options of a model of the family, whose errors are f's.
func (row *family) parse(f *fields) *Config {
	c := &Config{
		Family:       row.name,
		Vocab:        f.size("vocab_size", maxVocab, row.sizes),
		Hidden:       f.size("hidden_size", maxWidth, nil),
		Intermediate: f.size("intermediate_size", maxWidth, nil),
		Layers:       f.size("num_hidden_layers", maxLayers, nil),
		Heads:        f.size("num_attention_heads", maxHeads, row.sizes),
		MaxPosition:  value(f, "max_position_embeddings", row.maxPosition),
		NormEps:      value(f, "rms_norm_eps", row.normEps),
		TiedHead:     value(f, "tie_word_embeddings", row.tied),
		BOS:          -1,
		EOS:          f.ids("eos_token_id", slices.Clone(row.eos)),
		Stored:       storedType(f),
	}
	c.KVHeads = row.kvHeads
	if _, there := f.raw["num_key_value_heads"]; there || c.KVHeads == 0 { // null: as many as heads
		c.KVHeads = value(f, "num_key_value_heads", c.Heads)
	}
	c.HeadDim = row.headDim
	if _, there := f.raw["head_dim"]; there || c.HeadDim == 0 {
		c.HeadDim = value(f, "head_dim", c.Hidden/max(c.Heads, 1))
	}
	_, named := f.raw["eos_token_id"]
	c.AssumedEOS = !named && len(c.EOS) > 0
	if bos := f.ids("bos_token_id", row.bos); len(bos) > 0 {
		c.BOS = bos[0]
	}
	c.Attn = make([]Attention, c.Layers)
	if row.always != nil {
		row.always(c)
	}
	for i := range row.settings {
		row.settings[i].read(f, c)
	}
	if row.rope != nil {
		row.rope(f, c, row.theta)
	} else {
		c.Rope = f.rope(besideRope{theta: row.theta, maxPosition: c.MaxPosition})
	}
	refuseForeign(f, row)
	return c
}

// storedType reads the announced storage type. It is a hint: the tensors decide.
func storedType(f *fields) DType {
	announced := value(f, "dtype", value(f, "torch_dtype", ""))
	for t, name := range storedNames {
		if name == announced {
			return t
		}
	}
	return Invalid
}

// neutral lists fields that change what a model computes, with the value that changes
// nothing (null never does): they have it unless the family reads them.
var neutral = map[string]any{
	"partial_rotary_factor":   1.0,
	"attn_logit_softcapping":  nil,
	"final_logit_softcapping": nil,
	"query_pre_attn_scalar":   nil,
	"embedding_multiplier":    1.0,
	"attention_multiplier":    nil,
	"residual_multiplier":     1.0,
	"logits_scaling":          1.0,
	"no_rope_layers":          nil,
	"no_rope_layer_interval":  nil,
	"num_local_experts":       0.0,
	"num_experts":             0.0,
	"attention_bias":          false,
	"mlp_bias":                false,
	"use_qk_norm":             false,
	"qk_layernorm":            false,
	"clip_qkv":                nil,
	"hidden_act":              "silu",
	"hidden_activation":       "silu",
	"per_layer_config":        nil,
}

func refuseForeign(f *fields, row *family) {
	names := make([]string, 0, len(neutral))
	for name := range neutral {
		if !row.reads(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names) // the same message every time
	for _, name := range names {
		if f.has(name) && !isNeutral(f.raw[name], neutral[name]) {
			f.fail("%w: %s %.120s is not implemented for %s", ErrUnsupported, name, f.onOneLine(name), row.name)
		}
	}
	if !row.reads("quantization_config") && f.quantization() == "mxfp4" {
		f.refuseQuantization("mxfp4")
	}
	if row.reads("sliding_window") {
		return
	}
	layers := values[string](f, "layer_types")
	for _, kind := range layers {
		if kind != typeNames[Full] {
			f.fail("%w: layer type %.80q is not implemented for %s", ErrUnsupported, kind, row.name)
		}
	}
	// A window is in force unless the config says that every layer sees everything.
	if f.has("sliding_window") && value(f, "use_sliding_window", true) && layers == nil {
		f.fail("%w: sliding_window %.40s is not implemented for %s", ErrUnsupported, f.onOneLine("sliding_window"), row.name)
	}
}

// isNeutral compares scalars; lists, objects and what is long are never neutral, and not decoded.
func isNeutral(js json.RawMessage, want any) bool {
	const long = 64
	if js[0] == '[' || js[0] == '{' || len(js) > long {
		return false
	}
	var v any
	return json.Unmarshal(js, &v) == nil && v == want
}
