package model

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// llamaJSON is a whole config.json, changed by what a test gives: nil removes.
func llamaJSON(t *testing.T, changes map[string]any) []byte {
	t.Helper()
	fields := map[string]any{
		"architectures": []string{"LlamaForCausalLM"}, "model_type": "llama", "vocab_size": 256, "hidden_size": 64,
		"intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
		"max_position_embeddings": 512, "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": []int{2, 7},
	}
	maps.Copy(fields, changes)
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == nil })
	js, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestParseConfig(t *testing.T) {
	c, err := ParseConfig(llamaJSON(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Family: "llama", Vocab: 256, Hidden: 64, Intermediate: 96, Layers: 4, Heads: 4, KVHeads: 2, HeadDim: 16,
		MaxPosition: 512, NormEps: 1e-5, Rope: Rope{Kind: RopeDefault, Theta: 10000}, Attn: make([]Attention, 4), BOS: 1, EOS: []int32{2, 7},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestParseConfigDefaults(t *testing.T) {
	c, err := ParseConfig(llamaJSON(t, map[string]any{"num_key_value_heads": nil, "max_position_embeddings": nil,
		"rms_norm_eps": nil, "bos_token_id": nil, "eos_token_id": nil, "model_type": nil}))
	if err != nil {
		t.Fatal(err)
	}
	if c.KVHeads != 4 || c.MaxPosition != 2048 || c.NormEps != 1e-6 || c.BOS != 1 || !reflect.DeepEqual(c.EOS, []int32{2}) {
		t.Errorf("got %+v", c)
	}
	// A null says that there is none, unlike a field left out.
	js := strings.Replace(string(llamaJSON(t, map[string]any{"bos_token_id": -1})), `"eos_token_id":[2,7]`, `"eos_token_id":null`, 1)
	if c, err = ParseConfig([]byte(js)); err != nil || c.BOS != -1 || c.EOS != nil {
		t.Errorf("got BOS %d EOS %v, error %v", c.BOS, c.EOS, err)
	}
}

func TestParseRope(t *testing.T) {
	llama3 := Rope{Kind: RopeLlama3, Theta: 500000, Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPosition: 32}
	yarn := Rope{Kind: RopeYarn, Theta: 10000, Factor: 4, OriginalMaxPosition: 512, BetaFast: 32, BetaSlow: 1, Truncate: true}
	of := func(r Rope, factor float64, original int) Rope {
		r.Factor, r.OriginalMaxPosition = factor, original
		return r
	}
	yarn128 := of(yarn, 4, 128)
	for name, test := range map[string]struct {
		fields string
		want   Rope
	}{
		"new":            {`"rope_parameters":{"rope_type":"llama3","rope_theta":500000.0,"factor":8,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":32}`, llama3},
		"old":            {`"rope_theta":500000,"rope_scaling":{"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":32}`, llama3},
		"type":           {`"rope_scaling":{"type":"linear","factor":4}`, Rope{Kind: RopeLinear, Theta: 10000, Factor: 4}},
		"null":           {`"rope_theta":7.5,"rope_scaling":null`, Rope{Kind: RopeDefault, Theta: 7.5}},
		"null, outside":  {`"original_max_position_embeddings":"x","rope_scaling":null`, Rope{Kind: RopeDefault, Theta: 10000}},
		"type, outside":  {`"original_max_position_embeddings":0,"rope_scaling":{"type":"linear","factor":4}`, Rope{Kind: RopeLinear, Theta: 10000, Factor: 4}},
		"outer theta":    {`"rope_theta":7.5,"rope_parameters":{"rope_type":"default"}`, Rope{Kind: RopeDefault, Theta: 7.5}},
		"scaling first":  {`"rope_parameters":{"rope_type":"default"},"rope_scaling":{"type":"linear","factor":2}`, Rope{Kind: RopeLinear, Theta: 10000, Factor: 2}},
		"yarn, defaults": {`"rope_scaling":{"type":"yarn","factor":4}`, yarn},
		"yarn, zeros":    {`"rope_scaling":{"type":"yarn","factor":4,"beta_fast":0,"beta_slow":0}`, yarn},
		"yarn, outside":  {`"original_max_position_embeddings":64,"rope_scaling":{"type":"yarn","factor":4}`, of(yarn, 4, 64)},
		"yarn, both":     {`"original_max_position_embeddings":64,"rope_parameters":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":128}`, of(yarn, 4, 64)},
		"yarn, ratio":    {`"rope_scaling":{"type":"yarn","factor":null,"original_max_position_embeddings":128}`, yarn128},
		"llama3, both":   {`"original_max_position_embeddings":64,"rope_theta":500000,"rope_scaling":{"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":128}`, of(llama3, 8, 64)},
		"linear, beside": {`"original_max_position_embeddings":64,"rope_scaling":{"type":"linear","factor":4}`, Rope{Kind: RopeLinear, Theta: 10000, Factor: 4}},
		"empty scaling":  {`"rope_parameters":{"rope_type":"linear","factor":2},"rope_scaling":{}`, Rope{Kind: RopeLinear, Theta: 10000, Factor: 2}},
	} {
		js := strings.Replace(string(llamaJSON(t, nil)), "{", "{"+test.fields+",", 1)
		c, err := ParseConfig([]byte(js))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(c.Rope, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, c.Rope, test.want)
		}
	}
}

func TestParseConfigRefuses(t *testing.T) {
	type m = map[string]any
	tooMany := make([]int, MaxIDs+1)
	for i := range tooMany {
		tooMany[i] = i
	}
	for _, test := range []struct {
		changes m
		kind    error
		says    string
	}{
		{m{"architectures": []string{"MambaForCausalLM"}}, ErrUnsupported, "MambaForCausalLM"},
		{m{"architectures": []string{"LlamaForSequenceClassification"}}, ErrUnsupported, "LlamaForSequenceClassification"},
		{m{"model_type": "mamba"}, ErrUnsupported, "mamba"},
		{m{"architectures": nil, "model_type": nil}, ErrConfig, "neither"},
		{m{"hidden_act": "gelu"}, ErrUnsupported, "gelu"},
		{m{"rope_scaling": m{"type": "dynamic", "factor": 2}}, ErrUnsupported, "dynamic"},
		{m{"rope_scaling": m{"type": "linear", "factor": 2, "mrope_section": []int{1}}}, ErrUnsupported, "mrope_section"},
		{m{"rope_scaling": m{"type": "linear"}}, ErrConfig, "factor"},
		{m{"rope_scaling": m{"type": "linear", "factor": -1}}, ErrConfig, "factor"},
		{m{"rope_scaling": m{"type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 4}}, ErrConfig, "high_freq_factor"},
		{m{"rope_scaling": m{"type": "yarn", "factor": 4, "beta_fast": 0.5}}, ErrConfig, "beta_fast"},
		{m{"rope_scaling": m{"type": "yarn", "factor": 4, "original_max_position_embeddings": -1}}, ErrConfig, "original_max"},
		{m{"original_max_position_embeddings": 0, "rope_scaling": m{"type": "yarn", "factor": 4}}, ErrConfig, "original_max"},
		{m{"rope_scaling": m{"type": "yarn", "factor": 4, "attention_factor": 0}}, ErrConfig, "attention_factor"},
		{m{"rope_scaling": m{"type": "llama3", "factor": nil}}, ErrConfig, "factor"},
		{m{"rope_parameters": m{"rope_type": "default", "partial_rotary_factor": 0.5}}, ErrUnsupported, "partial_rotary_factor"},
		{m{"rope_theta": 0}, ErrConfig, "theta"},
		{m{"quantization_config": m{"quant_method": "awq"}}, ErrUnsupported, "awq"},
		{m{"quantization_config": m{"quant_method": "gptq", "bits": 4}}, ErrUnsupported, "gptq"},
		{m{"quantization_config": m{"quant_method": "bitsandbytes"}}, ErrUnsupported, "bitsandbytes"},
		{m{"quantization_config": m{"quant_method": "compressed-tensors"}}, ErrUnsupported, "compressed-tensors"},
		{m{"compression_config": m{"format": "int-quantized"}}, ErrUnsupported, "compressed-tensors"},
		{m{"quantization_config": m{"quant_method": "mxfp4"}}, ErrUnsupported, "mxfp4"},
		{m{"quantization_config": m{"bits": 4}}, ErrConfig, "quant_method"},
		{m{"quantization_config": "awq"}, ErrConfig, "quantization_config"},
		{m{"quantization_config": m{"quant_method": "fp8"}}, ErrUnsupported, "weight_block_size"},
		{m{"quantization_config": m{"quant_method": "fp8", "weight_block_size": []int{1, 128}}}, ErrUnsupported, "[1 128]"},
		{m{"quantization_config": m{"quant_method": "fp8", "weight_block_size": []int{128, 128}, "activation_scheme": "static"}}, ErrUnsupported, "static"},
		{m{"quantization_config": m{"quant_method": "fp8", "weight_block_size": []int{128, 128}, "fmt": "e5m2"}}, ErrUnsupported, "e5m2"},
		{m{"sliding_window": 4096}, ErrUnsupported, "sliding_window"},
		{m{"layer_types": []string{"full_attention", "sliding_attention"}}, ErrUnsupported, "sliding_attention"},
		{m{"final_logit_softcapping": 30.0}, ErrUnsupported, "final_logit_softcapping"},
		{m{"residual_multiplier": 0.5}, ErrUnsupported, "residual_multiplier"},
		{m{"hidden_size": nil}, ErrConfig, "hidden_size"},
		{m{"hidden_size": 64.5}, ErrConfig, "hidden_size"},
		{m{"hidden_size": "64"}, ErrConfig, "hidden_size"},
		{m{"hidden_size": 1 << 40}, ErrConfig, "hidden_size"},
		{m{"num_hidden_layers": 1 << 60}, ErrConfig, "num_hidden_layers"},
		{m{"num_hidden_layers": 0}, ErrConfig, "num_hidden_layers"},
		{m{"num_hidden_layers": -4}, ErrConfig, "num_hidden_layers"},
		{m{"num_attention_heads": 0}, ErrConfig, "num_attention_heads"},
		{m{"num_key_value_heads": 3}, ErrConfig, "multiple"},
		{m{"num_key_value_heads": 8}, ErrConfig, "key-value"},
		{m{"num_key_value_heads": 0}, ErrConfig, "key-value"},
		{m{"head_dim": 15}, ErrConfig, "odd"},
		{m{"head_dim": -2}, ErrConfig, "head dimension"},
		{m{"max_position_embeddings": 0}, ErrConfig, "context"},
		{m{"rms_norm_eps": 0}, ErrConfig, "epsilon"},
		{m{"bos_token_id": 256}, ErrConfig, "start token"},
		{m{"eos_token_id": []int{2, 256}}, ErrConfig, "end token"},
		{m{"eos_token_id": "x"}, ErrConfig, "eos_token_id"},
		{m{"vocab_size": 1 << 20, "eos_token_id": tooMany}, ErrConfig, "eos_token_id"},
	} {
		_, err := ParseConfig(llamaJSON(t, test.changes))
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: got %v, want %v that says %q", test.changes, err, test.kind, test.says)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: the error has more than one line", test.changes)
		}
	}
	for _, js := range []string{"", "[]", "{", `"x"`, strings.Repeat("[", 100000)} {
		if _, err := ParseConfig([]byte(js)); !errors.Is(err, ErrConfig) {
			t.Errorf("%.20q: got %v", js, err)
		}
	}
}

// What says that nothing changes is taken.
func TestParseConfigNeutral(t *testing.T) {
	type m = map[string]any
	for _, changes := range []m{
		{"hidden_act": "silu", "partial_rotary_factor": 1.0, "residual_multiplier": 1, "use_qk_norm": false, "pretraining_tp": 2},
		{"sliding_window": 4096, "use_sliding_window": false},
		{"quantization_config": m{"quant_method": "fp8", "weight_block_size": []int{128, 128}, "activation_scheme": "dynamic", "fmt": "e4m3", "scale_fmt": "ue8m0", "modules_to_not_convert": []string{"lm_head"}}},
		{"sliding_window": 4096, "layer_types": []string{"full_attention", "full_attention", "full_attention", "full_attention"}},
	} {
		if _, err := ParseConfig(llamaJSON(t, changes)); err != nil {
			t.Errorf("%v: %v", changes, err)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	files, err := filepath.Glob("../test/testdata/families/made/*/config.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		js, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := ParseConfig(js)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		out, err := want.JSON()
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got, err := ParseConfig(out)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v, error %v", file, got, want, err)
		}
	}
	c := llama31()
	c.Family, c.Rope.FreqDivisors = "llama", make([]float32, 32)
	if _, err := c.JSON(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("frequency divisors: got %v", err)
	}
	if _, err := (&Config{Family: "x"}).JSON(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("unknown family: got %v", err)
	}
}

func TestParseConfigRefusesAnEmptyInside(t *testing.T) {
	_, err := ParseConfig([]byte(`{"model_type":"gemma3","text_config":null,"dtype":"bfloat16"}`))
	if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "text_config") {
		t.Error(err)
	}
}
