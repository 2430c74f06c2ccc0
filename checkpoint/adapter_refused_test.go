package checkpoint

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cbactor/cbactor/model"
)

// option gives a field of the configuration a value.
func option(name string, value any) func(f *adapterFolder) {
	return func(f *adapterFolder) { f.config[name] = value }
}

// shaped gives a tensor a shape, which may be a new one.
func shaped(name string, shape ...int) func(f *adapterFolder) {
	return func(f *adapterFolder) { f.shapes[name] = shape }
}

// raw replaces a file.
func raw(file string, data []byte) func(f *adapterFolder) {
	return func(f *adapterFolder) {
		f.change = func(fsys fstest.MapFS) { fsys[file] = &fstest.MapFile{Data: data} }
	}
}

// without leaves a file out.
func without(file string) func(f *adapterFolder) {
	return func(f *adapterFolder) { f.missing = file }
}

type refusedAdapter struct {
	name   string
	change func(f *adapterFolder)
	class  error
	says   string
}

func refusedOptions() []refusedAdapter {
	many := map[string]any{}
	for i := range maxPatterns + 1 {
		many[fmt.Sprint(i)] = 1
	}
	return []refusedAdapter{
		{"no config", without(adapterConfigFile), ErrNotFound, adapterConfigFile},
		{"no JSON", raw(adapterConfigFile, []byte("{")), ErrFormat, adapterConfigFile},
		{"large config", raw(adapterConfigFile, make([]byte, maxAdapterConfig+1)), ErrFormat, "bytes"},
		{"IA3", option("peft_type", "IA3"), model.ErrUnsupported, "IA3"},
		{"DoRA", option("use_dora", true), model.ErrUnsupported, "use_dora"},
		{"bias", option("bias", "lora_only"), model.ErrUnsupported, "lora_only"},
		{"lora_bias", option("lora_bias", true), model.ErrUnsupported, "lora_bias"},
		{"modules_to_save", option("modules_to_save", []string{"lm_head"}), model.ErrUnsupported, "modules_to_save"},
		{"fan_in_fan_out", option("fan_in_fan_out", true), model.ErrUnsupported, "fan_in_fan_out"},
		{"layers_pattern", option("layers_pattern", "h"), model.ErrUnsupported, "layers_pattern"},
		{"replicated layers", option("layer_replication", [][]int{{0, 1}}), model.ErrUnsupported, "layer_replication"},
		{"tokens", option("trainable_token_indices", []int{1}), model.ErrUnsupported, "trainable_token_indices"},
		{"unknown option", option("use_something", true), model.ErrUnsupported, "use_something"},
		{"PiSSA", option("init_lora_weights", "pissa_niter_4"), model.ErrUnsupported, "pissa_niter_4"},
		{"strange init", option("init_lora_weights", []int{1}), model.ErrUnsupported, "init_lora_weights"},
		{"rank is text", option("r", "2"), ErrFormat, "r:"},
		{"rank 0", option("r", 0), ErrFormat, "r is 0"},
		{"rank 1e300", option("rank_pattern", map[string]any{"q_proj": 1e300}), ErrFormat, "rank_pattern"},
		{"rank beyond", option("r", 3), model.ErrAdapter, "rank 3"},
		{"bad pattern", option("alpha_pattern", map[string]any{"(": 1}), model.ErrUnsupported, "alpha_pattern"},
		{"two patterns", option("alpha_pattern", map[string]any{"q_proj": 1, "self_attn.q_proj": 2}), model.ErrUnsupported, "alpha_pattern"},
		{"many patterns", option("alpha_pattern", many), model.ErrUnsupported, "alpha_pattern"},
		{"many layers", option("layers_to_transform", make([]int, maxNames+1)), model.ErrUnsupported, "layers"},
		{"unknown target", option("target_modules", []string{"q_proj", "v_proj", "c_attn"}), model.ErrAdapter, "c_attn"},
		{"head", option("target_modules", []string{"q_proj", "v_proj", "lm_head"}), model.ErrAdapter, "lm_head"},
	}
}

func refusedTensors() []refusedAdapter {
	const q = wrapped + "model.layers.0.self_attn.q_proj"
	huge := "{" + entry(q+".lora_A.weight", "F32", "[4611686018427387904,4]", 0, 0) + "}"
	return []refusedAdapter{
		{"no tensors", without(adapterFile), ErrNotFound, adapterFile},
		{"no safetensors", raw(adapterFile, make([]byte, 64)), ErrFormat, adapterFile},
		{"empty", raw(adapterFile, safetensorsFile("{}", 2, nil)), ErrFormat, "q_proj"},
		{"huge A", raw(adapterFile, safetensorsFile(huge, uint64(len(huge)), nil)), ErrFormat, "too large"},
		{"another rank", option("r", 1), model.ErrAdapter, "q_proj"},
		{"target left out", option("target_modules", []string{"q_proj", "v_proj", "o_proj"}), ErrFormat, "o_proj"},
		{"all-linear left out", option("target_modules", "all-linear"), ErrFormat, "_proj"},
		{"module not there", shaped(wrapped+"model.layers.7.self_attn.q_proj.lora_A.weight", 2, 4), model.ErrAdapter, "layers.7"},
		{"no B", func(f *adapterFolder) { delete(f.shapes, q+".lora_B.weight") }, ErrFormat, "q_proj"},
		{"A of another width", shaped(q+".lora_A.weight", 2, 5), model.ErrAdapter, "q_proj"},
		{"A turned", shaped(q+".lora_A.weight", 4, 2), model.ErrAdapter, "q_proj"},
		{"magnitudes", shaped(q+".lora_magnitude_vector", 4), model.ErrUnsupported, "lora_magnitude_vector"},
		{"embedding", shaped(wrapped+"model.embed_tokens.lora_embedding_A", 4), model.ErrUnsupported, "lora_embedding_A"},
		{"bare name", shaped("q_proj.lora_A.weight", 2, 4), model.ErrUnsupported, "q_proj.lora_A"},
		{"bytes", func(f *adapterFolder) { f.dtype = "F8_E4M3" }, model.ErrUnsupported, "F8_E4M3"},
	}
}

// TestReadAdapterRefuses wants each refusal to be cheap, of its class, and to name what
// is wrong.
func TestReadAdapterRefuses(t *testing.T) {
	m := smallModel(t)
	for _, c := range append(refusedOptions(), refusedTensors()...) {
		f := newAdapterFolder()
		c.change(f)
		fsys := f.fs(t)
		err := cheaply(t, c.name, 4<<20, func() error {
			_, err := ReadAdapter(fsys, m, 2)
			return err
		})
		if !errors.Is(err, c.class) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, want %v that names %q", c.name, err, c.class, c.says)
		}
	}
}
