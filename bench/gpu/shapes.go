package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// shape is a model's sizes under the name that --shape knows it by.
type shape struct{ name, like, config string }

// shapes are those of released models, by their config.json; tiny is for emulated devices.
var shapes = []shape{
	{"tiny", "nothing", `{"architectures":["LlamaForCausalLM"],"model_type":"llama","vocab_size":320,"hidden_size":64,
		"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,
		"max_position_embeddings":2048,"rms_norm_eps":1e-5,"tie_word_embeddings":true}`},
	{"0.5b", "Qwen2.5-0.5B", `{"architectures":["Qwen2ForCausalLM"],"model_type":"qwen2","vocab_size":151936,"hidden_size":896,
		"intermediate_size":4864,"num_hidden_layers":24,"num_attention_heads":14,"num_key_value_heads":2,
		"max_position_embeddings":32768,"rms_norm_eps":1e-6,"rope_theta":1000000.0,"tie_word_embeddings":true}`},
	{"1.5b", "Qwen2.5-1.5B", `{"architectures":["Qwen2ForCausalLM"],"model_type":"qwen2","vocab_size":151936,"hidden_size":1536,
		"intermediate_size":8960,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,
		"max_position_embeddings":32768,"rms_norm_eps":1e-6,"rope_theta":1000000.0,"tie_word_embeddings":true}`},
	{"4b", "Qwen3-4B", `{"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","vocab_size":151936,"hidden_size":2560,
		"intermediate_size":9728,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,
		"max_position_embeddings":32768,"rms_norm_eps":1e-6,"rope_theta":1000000.0,"tie_word_embeddings":true}`},
	{"8b", "Llama-3.1-8B", `{"architectures":["LlamaForCausalLM"],"model_type":"llama","vocab_size":128256,"hidden_size":4096,
		"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,
		"max_position_embeddings":32768,"rms_norm_eps":1e-5,"rope_theta":500000.0,"tie_word_embeddings":false}`},
}

// shapeNamed is a shape with its model. No token ends a sequence of it.
func shapeNamed(name string) (shape, *model.Config, error) {
	i := slices.IndexFunc(shapes, func(s shape) bool { return s.name == name })
	if i < 0 {
		var known []string
		for _, s := range shapes {
			known = append(known, s.name)
		}
		return shape{}, nil, fmt.Errorf("no shape is called %.40q: take one of %s", name, strings.Join(known, ", "))
	}
	m, err := model.ParseConfig([]byte(shapes[i].config))
	if err != nil {
		return shape{}, nil, fmt.Errorf("shape %s: %w", name, err)
	}
	m.EOS, m.Stored = nil, model.BF16
	return shapes[i], m, nil
}
