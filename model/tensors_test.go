package model

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// The list of tensors is that of the checkpoints which the reference wrote.
func TestTensorsOfFixtures(t *testing.T) {
	for _, name := range []string{"llama", "llama-rope-linear", "llama-rope-llama3", "llama-rope-yarn"} {
		dir := filepath.Join("../test/testdata/families", name)
		js, err := os.ReadFile(filepath.Join(dir, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseConfig(js)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		var header map[string]struct{ Shape []int }
		if err := json.Unmarshal(raw[8:8+binary.LittleEndian.Uint64(raw)], &header); err != nil {
			t.Fatal(err)
		}
		delete(header, "__metadata__")
		list := c.Tensors()
		if len(list) != len(header) {
			t.Errorf("%s: %d tensors, the file has %d", name, len(list), len(header))
		}
		for _, tensor := range list {
			if !reflect.DeepEqual(tensor.Shape, header[tensor.Name].Shape) {
				t.Errorf("%s: %s: shape %v, the file has %v", name, tensor.Name, tensor.Shape, header[tensor.Name].Shape)
			}
		}
	}
}

func TestTensorsOfOptions(t *testing.T) {
	count := func(c Config) int {
		c.Family, c.Layers = "llama", 2
		return len(c.Tensors())
	}
	base := count(Config{TiedHead: true})
	for _, test := range []struct {
		name string
		c    Config
		more int
	}{
		{"untied", Config{}, 1},
		{"attention bias", Config{TiedHead: true, AttnBias: true}, 2 * 4},
		{"mlp bias", Config{TiedHead: true, MLPBias: true}, 2 * 3},
	} {
		if got := count(test.c) - base; got != test.more {
			t.Errorf("%s: %d more tensors, want %d", test.name, got, test.more)
		}
	}
	if list := (&Config{Family: "x", Layers: 2}).Tensors(); list != nil {
		t.Errorf("unknown family: %d tensors", len(list))
	}
}

func TestRedundant(t *testing.T) {
	tied, untied := &Config{TiedHead: true}, &Config{}
	for _, test := range []struct {
		c    *Config
		name string
		want bool
	}{
		{tied, "lm_head.weight", true},
		{untied, "lm_head.weight", false},
		{untied, "model.layers.3.self_attn.rotary_emb.inv_freq", true},
		{tied, "model.layers.0.self_attn.q_norm.weight", false},
	} {
		if got := test.c.Redundant(test.name); got != test.want {
			t.Errorf("%s, tied %v: got %v", test.name, test.c.TiedHead, got)
		}
	}
}
