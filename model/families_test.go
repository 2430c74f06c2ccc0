package model

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// madeConfig is the configuration of a model of test/testdata/families/made, changed by what a
// test gives: nil removes.
func madeConfig(t *testing.T, name string, changes map[string]any) []byte {
	t.Helper()
	js, err := os.ReadFile(filepath.Join("../test/testdata/families/made", name, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(js, &fields); err != nil {
		t.Fatal(err)
	}
	for name, v := range changes {
		if v == nil {
			delete(fields, name)
		} else {
			fields[name] = v
		}
	}
	if js, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	return js
}

func parseMade(t *testing.T, name string, changes map[string]any) *Config {
	t.Helper()
	c, err := ParseConfig(madeConfig(t, name, changes))
	if err != nil {
		t.Fatalf("%s %v: %v", name, changes, err)
	}
	return c
}

// everyLayer is layer_types of four layers of one kind.
func everyLayer(kind string) []string { return []string{kind, kind, kind, kind} }

// What a file leaves out is what the reference then takes, in the words of older files, too.
func TestFamilyDefaults(t *testing.T) {
	type m = map[string]any
	slide := func(window int, layers ...int) func(*Config) bool {
		return func(c *Config) bool {
			for l, kind := range c.Attn {
				if (kind == Sliding) != slices.Contains(layers, l) {
					return false
				}
			}
			return c.Window == window
		}
	}
	for _, test := range []struct {
		model   string
		changes m
		is      func(*Config) bool
	}{
		{"mistral-sliding", m{"sliding_window": nil}, slide(4096, 0, 1, 2, 3)},
		{"mixtral", m{"sliding_window": nil}, slide(0)},
		{"qwen2", m{"sliding_window": 9, "layer_types": nil}, slide(0)},
		{"qwen2", m{"sliding_window": 9, "layer_types": nil, "use_sliding_window": true, "max_window_layers": 3}, slide(9, 3)},
		{"qwen3-moe", m{"sliding_window": 9, "use_sliding_window": true}, slide(9, 0, 1, 2, 3)},
		{"qwen3-moe", m{"sliding_window": 9, "use_sliding_window": true, "layer_types": everyLayer("sliding_attention")}, slide(9, 0, 1, 2, 3)},
		{"qwen3-moe", m{"sliding_window": 9, "use_sliding_window": false, "layer_types": everyLayer("full_attention")}, slide(0)},
		{"gemma2", m{"layer_types": nil}, slide(8, 0, 2)},
		{"gemma3", m{"layer_types": nil, "sliding_window_pattern": 3}, slide(8, 0, 1, 3)},
		{"gpt-oss", m{"layer_types": nil, "sliding_window": nil}, slide(128, 0, 2)},
		{"smollm3", m{"layer_types": nil, "use_sliding_window": true, "sliding_window": 5}, slide(5, 3)},
		{"smollm3", m{"layer_types": nil, "use_sliding_window": true, "sliding_window": nil}, slide(0)},
		{"smollm3", m{"no_rope_layers": nil, "no_rope_layer_interval": 2}, func(c *Config) bool { return reflect.DeepEqual(c.NoRope, []bool{false, true, false, true}) }},
		{"qwen2", nil, func(c *Config) bool { return c.AttnBias && c.OutNoBias }},
		{"qwen3", m{"head_dim": nil}, func(c *Config) bool { return c.HeadDim == 128 && c.QKNorm == QKNormHead }},
		{"gemma2", m{"final_logit_softcapping": nil, "attn_logit_softcapping": nil}, func(c *Config) bool { return c.AttnSoftcap == 50 && c.LogitSoftcap == 30 }},
		{"gemma3", m{"dtype": "bfloat16", "hidden_size": 3072}, func(c *Config) bool { return c.EmbedScale == 55.5 && c.LogitSoftcap == 0 }},
		{"gemma3", m{"attn_logit_softcapping": 50, "final_logit_softcapping": 30}, func(c *Config) bool { return c.AttnSoftcap == 0 && c.LogitSoftcap == 30 }},
		{"gpt-oss", m{"rope_parameters": nil, "original_max_position_embeddings": 128}, func(c *Config) bool { return c.Rope.Factor == 32 && c.Rope.OriginalMaxPosition == 128 }},
		{"gpt-oss", m{"rope_parameters": nil}, func(c *Config) bool { return c.Rope.Factor == 32 && !c.Rope.Truncate && c.Rope.Theta == 150000 }},
		{"gpt-oss", m{"quantization_config": m{"quant_method": "mxfp4"}}, func(c *Config) bool { return c.MoE.ChosenOnly && c.MoE.RouterBias }},
		{"qwen3-moe", m{"decoder_sparse_step": 2, "mlp_only_layers": []int{3}}, func(c *Config) bool { return reflect.DeepEqual(c.MoE.Dense, []bool{true, false, true, true}) }},
		{"qwen3-moe", m{"num_local_experts": nil, "num_experts": 6, "norm_topk_prob": nil}, func(c *Config) bool { return c.MoE.Experts == 6 && !c.MoE.Normalize }},
		{"phi3", m{"rope_parameters": nil, "partial_rotary_factor": 0.25}, func(c *Config) bool { return c.RotaryDim == 4 }},
		{"granite", m{"logits_scaling": nil, "attention_multiplier": nil}, func(c *Config) bool { return c.LogitScale == 1 && c.AttnScale == 1 }},
	} {
		if c := parseMade(t, test.model, test.changes); !test.is(c) {
			t.Errorf("%s %v: got %+v, experts %+v", test.model, test.changes, c, c.MoE)
		}
	}
}

// What a family does not have, or is not computed, is refused with its name.
func TestFamilyRefusals(t *testing.T) {
	type m = map[string]any
	for _, test := range []struct {
		model   string
		changes m
		says    string
	}{
		{"mistral-sliding", m{"layer_types": everyLayer("full_attention")}, "layer_types"},
		{"qwen3-moe", m{"sliding_window": 9, "use_sliding_window": true, "layer_types": everyLayer("full_attention")}, "layer_types"},
		{"qwen2", m{"per_layer_config": m{"1": m{"num_key_value_heads": 1}}}, "per_layer_config"},
		{"mistral-sliding", m{"attention_bias": true}, "attention_bias"},
		{"gemma2", m{"hidden_activation": "gelu"}, "gelu"},
		{"gemma3", m{"use_bidirectional_attention": true}, "use_bidirectional_attention"},
		{"gemma2", m{"layer_types": []string{"chunked_attention", "full_attention", "full_attention", "full_attention"}}, "chunked_attention"},
		{"phi3", m{"rope_parameters": m{"rope_type": "longrope", "short_factor": []int{1}, "long_factor": []int{1}}}, "longrope"},
		{"phi3", m{"rope_parameters": nil, "rope_scaling": m{"type": "su"}}, "su"},
		{"phi3", m{"rope_parameters": nil, "rope_scaling": m{"type": "yarn", "factor": 4}}, "longrope"},
		{"gpt-oss", m{"swiglu_limit": 5.0}, "swiglu_limit"},
		{"gpt-oss", m{"quantization_config": m{"quant_method": "awq"}}, "awq"},
		{"qwen2", m{"rope_parameters": m{"rope_type": "default", "partial_rotary_factor": 0.5}}, "partial_rotary_factor"},
		{"granite", m{"sliding_window": 8}, "sliding_window"},
	} {
		if _, err := ParseConfig(madeConfig(t, test.model, test.changes)); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s %v: got %v, want one that says %q", test.model, test.changes, err, test.says)
		}
	}
	for _, test := range []struct {
		model   string
		changes m
		says    string
	}{
		{"gemma2", m{"sliding_window": -1}, "window"},
		{"mistral-sliding", m{"sliding_window": 0}, "sliding_window"},
		{"qwen3-moe", m{"use_sliding_window": false, "layer_types": []string{"sliding_attention"}}, "layer_types"},
		{"gemma2", m{"layer_types": []string{"full_attention"}}, "layer_types"},
		{"gemma2", m{"query_pre_attn_scalar": 0}, "query_pre_attn_scalar"},
		{"mixtral", m{"num_experts_per_tok": 5}, "experts a token"},
		{"mixtral", m{"num_local_experts": 1 << 40}, "experts"},
		{"mixtral", m{"num_local_experts": 4000, "num_hidden_layers": 4000}, "in all"},
		{"qwen3-moe", m{"decoder_sparse_step": 0}, "decoder_sparse_step"},
		{"smollm3", m{"no_rope_layers": []int{1}}, "no_rope_layers"},
		{"phi3", m{"rope_parameters": nil, "partial_rotary_factor": 2}, "partial_rotary_factor"},
		{"granite", m{"logits_scaling": 0}, "logits_scaling"},
	} {
		if _, err := ParseConfig(madeConfig(t, test.model, test.changes)); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s %v: got %v, want one that says %q", test.model, test.changes, err, test.says)
		}
	}
}

// The text part of a model that sees: sizes that released files leave out, names of tensors.
func TestNestedGemma3(t *testing.T) {
	c, err := ParseConfig([]byte(`{"architectures":["Gemma3ForConditionalGeneration"],"model_type":"gemma3","eos_token_id":[1,106],"torch_dtype":"bfloat16",
		"text_config":{"hidden_size":2560,"intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34,
		"rope_scaling":{"factor":8.0,"rope_type":"linear"},"sliding_window":1024},"vision_config":{"hidden_size":1152}}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Heads != 8 || c.KVHeads != 4 || c.HeadDim != 256 || c.Vocab != 262208 || !c.TiedHead || c.Stored != BF16 || len(c.EOS) != 2 || c.EOS[1] != 106 ||
		c.Window != 1024 || c.Rope.Factor != 8 || c.Rope.Theta != 1e6 || c.SlidingRope.Theta != 1e4 || c.Attn[5] != Full || c.Attn[4] != Sliding {
		t.Errorf("got %+v", c)
	}
	outside, err := ParseConfig([]byte(`{"model_type":"gemma3","eos_token_id":[1,106],"dtype":"float32","text_config":{"hidden_size":64,"intermediate_size":96,
		"num_hidden_layers":2,"eos_token_id":7,"bos_token_id":9,"dtype":"bfloat16","tie_word_embeddings":false,"final_logit_softcapping":30.0,"attn_logit_softcapping":50.0}}`))
	if err != nil || !slices.Equal(outside.EOS, []int32{1, 106}) || outside.BOS != 9 || outside.Stored != F32 || !outside.TiedHead || outside.LogitSoftcap != 0 || outside.AttnSoftcap != 0 {
		t.Errorf("what is outside does not go before what is inside: %+v, %v", outside, err)
	}
	if _, err := ParseConfig([]byte(`{"model_type":"gemma3","per_layer_config":{},"text_config":{"hidden_size":64,"intermediate_size":96,"num_hidden_layers":2}}`)); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "per_layer_config") {
		t.Errorf("per_layer_config outside: %v", err)
	}
	for stored, want := range map[string]string{
		"language_model.model.layers.0.mlp.up_proj.weight": "model.layers.0.mlp.up_proj.weight",
		"model.language_model.norm.weight":                 "model.norm.weight",
		"language_model.lm_head.weight":                    "lm_head.weight",
		"model.norm.weight":                                "model.norm.weight",
		"vision_tower.x":                                   "vision_tower.x",
	} {
		if got := c.TensorName(stored); got != want {
			t.Errorf("%s: got %s, want %s", stored, got, want)
		}
	}
	for name, want := range map[string]bool{"vision_tower.x": true, "model.vision_tower.x": true, "multi_modal_projector.x": true, "audio_tower.x": false} {
		if c.Redundant(name) != want {
			t.Errorf("%s: got %v", name, !want)
		}
	}
	if llama := (&Config{Family: "llama"}); llama.Redundant("vision_tower.x") || llama.TensorName("language_model.x") != "language_model.x" {
		t.Error("llama has names of a model that sees")
	}
}

// Every module lies in a tensor of the list, within its bounds, and no two have a row in common.
func TestRowsAreTensors(t *testing.T) {
	entries, err := os.ReadDir("../test/testdata/families/made")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		c := parseMade(t, e.Name(), nil)
		tensors := map[string]Tensor{}
		for _, tensor := range c.Tensors() {
			tensors[tensor.Name] = tensor
		}
		seen := map[string]map[int]bool{}
		take := func(r Rows, n int, bias bool) {
			shape := tensors[r.Tensor].Shape
			if shape == nil {
				t.Fatalf("%s: no tensor %s", e.Name(), r.Tensor)
			}
			per := shape[len(shape)-1]
			if !bias && !tensors[r.Tensor].Transposed() {
				per = shape[len(shape)-2]
			}
			if seen[r.Tensor] == nil {
				seen[r.Tensor] = map[int]bool{}
			}
			for i := range n {
				at := r.First + i*r.Step
				if at >= per || seen[r.Tensor][r.Expert*per+at] {
					t.Fatalf("%s: %+v has row %d of %v, which is outside or another's", e.Name(), r, at, shape)
				}
				seen[r.Tensor][r.Expert*per+at] = true
			}
		}
		for l := range c.Layers {
			take(c.Weight(l, "self_attn.q_proj"), c.Heads*c.HeadDim, false)
			take(c.Weight(l, "self_attn.k_proj"), c.KVHeads*c.HeadDim, false)
			take(c.Weight(l, "self_attn.v_proj"), c.KVHeads*c.HeadDim, false)
			if !c.HasExperts(l) {
				take(c.Weight(l, "mlp.gate_proj"), c.Intermediate, false)
				take(c.Weight(l, "mlp.up_proj"), c.Intermediate, false)
				continue
			}
			for x := range c.MoE.Experts {
				for module, n := range map[string]int{"gate_proj": c.MoE.Intermediate, "up_proj": c.MoE.Intermediate, "down_proj": c.Hidden} {
					take(c.ExpertWeight(l, x, module), n, false)
					if c.MoE.RouterBias {
						take(c.ExpertBias(l, x, module), n, true)
					}
				}
			}
		}
	}
}
