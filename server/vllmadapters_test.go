package server

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// loraFolder writes an adapter for the model, as PEFT does, and is its folder.
func (c *changing) loraFolder(dir string, value float32) string {
	c.t.Helper()
	const rank = 2
	cfg := c.model.Config
	fill := func(name string, rows, columns int) tensor {
		one := tensor{name, "F32", []int{rows, columns}, nil}
		for i := range rows * columns {
			one.data = binary.LittleEndian.AppendUint32(one.data, math.Float32bits(value*float32(i%7-3)))
		}
		return one
	}
	var list []tensor
	for layer := range cfg.Layers {
		name := fmt.Sprintf("base_model.model.model.layers.%d.self_attn.q_proj.lora_", layer)
		list = append(list, fill(name+"A.weight", rank, cfg.Hidden), fill(name+"B.weight", cfg.Heads*cfg.HeadDim, rank))
	}
	write(c.t, filepath.Join(dir, "adapter_model.safetensors"), safetensors(c.t, list))
	write(c.t, filepath.Join(dir, "adapter_config.json"), fmt.Appendf(nil, `{"peft_type":"LORA","r":%d,"lora_alpha":4,"target_modules":["q_proj"],"bias":"none"}`, rank))
	return dir
}

// TRL publishes each policy as an adapter of a new name under a pause, and unloads old ones
// behind it; requests that have an old one come to their end.
func TestAdaptersAsTRLPublishesThem(t *testing.T) {
	c := serveChangingWith(t, engine.Config{MaxAdapters: 3, MaxAdapterRank: 4})
	dir := t.TempDir()
	c.withRoots(dir)
	publish := func(version int) {
		t.Helper()
		c.pause("?mode=keep")
		name := fmt.Sprintf("trl-policy-v%d", version)
		folder := c.loraFolder(filepath.Join(dir, name), 0.05*float32(version))
		c.told("/v1/load_lora_adapter", fmt.Sprintf(`{"lora_name":%q,"lora_path":%q,"load_inplace":false}`, name, folder))
		c.resume("")
		if version > 1 {
			c.told("/v1/unload_lora_adapter", fmt.Sprintf(`{"lora_name":"trl-policy-v%d"}`, version-1))
		}
	}
	ask := func(name string, tokens int) object {
		return object{"model": name, "prompt": count(5), "max_tokens": tokens, "temperature": 0, "n": 1, "return_token_ids": true, "logprobs": 0, "seed": 5, "ignore_eos": true}
	}
	c.hurried.Store(true)
	plain := c.ask(completionsPath, ask("tiny", 24)).Choices[0].IDs
	publish(1)
	first := c.ask(completionsPath, ask("trl-policy-v1", 24)).Choices[0].IDs
	if slices.Equal(plain, first) {
		t.Error("the adapter changes nothing, so that nothing is tested")
	}
	c.hurried.Store(false)
	old := c.background(completionsPath, ask("trl-policy-v1", 24))
	c.moved(2)
	c.hurried.Store(true)
	publish(2)
	if a := <-old; len(a.Choices) != 1 || !slices.Equal(a.Choices[0].IDs, first) {
		t.Errorf("a request that has an old adapter: %+v, want %v", a.Choices, first)
	}
	if second := c.ask(completionsPath, ask("trl-policy-v2", 24)).Choices[0].IDs; slices.Equal(first, second) {
		t.Error("another adapter computes the same")
	}
	c.until("the old one is gone", func() bool { return len(c.engine.Adapters()) == 1 })
	c.refused(completionsPath, ask("trl-policy-v1", 4), 404, "model", "model_not_found")
	if a := c.told("/v1/unload_lora_adapter", `{"lora_name":"trl-policy-v1"}`); !strings.Contains(a["message"].(string), "is not there") {
		t.Errorf("%v", a)
	}
}

// An adapter that a pause keeps from leaving holds up nobody, who may be the one to end it.
func TestUnloadAdapterDoesNotWaitForAPause(t *testing.T) {
	c := serveChangingWith(t, engine.Config{MaxAdapters: 1, MaxAdapterRank: 4})
	dir := t.TempDir()
	c.withRoots(dir)
	c.told("/v1/load_lora_adapter", fmt.Sprintf(`{"lora_name":"a","lora_path":%q}`, c.loraFolder(filepath.Join(dir, "a"), 0.1)))
	answer := c.background(completionsPath, object{"model": "a", "prompt": count(5), "max_tokens": 300, "ignore_eos": true})
	c.moved(2)
	c.pause("?mode=keep")
	begun := time.Now()
	if a := c.told("/v1/unload_lora_adapter", `{"lora_name":"a"}`); !strings.Contains(a["message"].(string), "when the requests") || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v", a, time.Since(begun))
	}
	c.hurried.Store(true)
	c.resume("")
	if a := <-answer; a.Choices[0].FinishReason != "length" {
		t.Errorf("%+v", a)
	}
	c.until("it is gone", func() bool { return len(c.engine.Adapters()) == 0 })
}

func TestLoadLoRAAdapterRefuses(t *testing.T) {
	c := serveChangingWith(t, engine.Config{MaxAdapters: 1, MaxAdapterRank: 4})
	dir := t.TempDir()
	folder := c.loraFolder(filepath.Join(dir, "a"), 0.1)
	const path = "/v1/load_lora_adapter"
	c.refused(path, object{"lora_name": "a", "lora_path": folder}, 403, "lora_path", "path_not_allowed")
	c.withRoots(dir)
	c.refused(path, object{"lora_name": "a", "lora_path": folder, "load_inplace": true}, 400, "load_inplace", "invalid_value")
	c.refused(path, object{"lora_name": "a", "lora_path": folder, "is_3d_lora_weight": true}, 400, "is_3d_lora_weight", "invalid_value")
	c.refused(path, object{"lora_path": folder}, 400, "", "adapter_name")
	c.refused(path, object{"lora_name": "a"}, 400, "lora_path", "invalid_value")
	c.refused(path, object{"lora_name": "tiny", "lora_path": folder}, 400, "lora_name", "adapter_name")
	c.told(path, fmt.Sprintf(`{"lora_name":"a","lora_path":%q}`, folder))
	c.refused(path, object{"lora_name": "a", "lora_path": folder}, 400, "", "adapter_name")
	c.refused(path, object{"lora_name": "b", "lora_path": folder}, 409, "", "adapters_full")
}
