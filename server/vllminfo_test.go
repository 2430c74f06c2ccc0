package server

import (
	"reflect"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// TRL reads whether adapters are taken, how many of which rank, and the type of the weights.
func TestServerInfo(t *testing.T) {
	for name, c := range map[string]struct {
		cfg    engine.Config
		stored string
		lora   any
		dtype  string
	}{
		"adapters": {engine.Config{MaxAdapters: 6, MaxAdapterRank: 8}, "BF16", object{"max_lora_rank": 8.0, "max_loras": 6.0}, "torch.bfloat16"},
		"none":     {engine.Config{}, "Q8_0", nil, "torch.float32"},
	} {
		r := serveTiny(t, c.cfg, Options{})
		r.server.models[0].Stored = c.stored
		want := object{
			"model_config":           object{"model": "tiny", "served_model_name": []any{"tiny"}, "dtype": c.dtype, "max_model_len": float64(r.engine.Info().MaxContext)},
			"parallel_config":        object{"world_size": 1.0, "data_parallel_size": 1.0, "tensor_parallel_size": 1.0, "pipeline_parallel_size": 1.0},
			"lora_config":            c.lora,
			"weight_transfer_config": nil,
		}
		var got, size object
		if status := r.get("/server_info?config_format=json", &got); status != 200 || !reflect.DeepEqual(got["vllm_config"], any(map[string]any(want))) {
			t.Errorf("%s: %d %v", name, status, got)
		}
		if status := r.get("/get_world_size", &size); status != 200 || size["world_size"] != 1.0 {
			t.Errorf("%d %v", status, size)
		}
	}
}
