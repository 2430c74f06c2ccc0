package main

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/model"
)

// Of a model that is refused, what its files say and have is shown, and the reason is given.
func TestInspectRefused(t *testing.T) {
	const header = `{"model.norm.weight":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"q":{"dtype":"I32","shape":[1],"data_offsets":[4,8]}}`
	shard := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+strings.Repeat("\x00", 8)...)
	awq := `{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 7, "vocab_size": 8, "hidden_size": 4, "intermediate_size": 4, "num_attention_heads": 2, "hidden_act": "silu", "quantization_config": {"quant_method": "awq"}}`
	gguf := "GGUF\x03\x00\x00\x00" + strings.Repeat("\x00", 8) + "\x01" + strings.Repeat("\x00", 7) +
		"\x14\x00\x00\x00\x00\x00\x00\x00general.architecture\x08\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00mamba"
	dir := t.TempDir()
	for name, data := range map[string]string{
		"awq/config.json": awq, "awq/model.safetensors": string(shard), "bare/config.json": awq,
		"sees/config.json": `{"model_type": "sees", "text_config": {"num_hidden_layers": 9}}`, "damaged/config.json": "{", "mamba.gguf": gguf, "cut.gguf": gguf[:40],
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args   []string
		reason error
		shown  []string // none: nothing is
	}{
		{[]string{"awq", "--tensors", "--metadata"}, model.ErrUnsupported, []string{
			"which is refused", `model_type "llama"`, "num_hidden_layers 7", `quantization_config {"quant_method":"awq"}`, "F16 1 tensor ", "I32 1 tensor ", `hidden_act "silu"`, "model.norm.weight F16 2 4 bytes",
		}},
		{[]string{"awq", "--json"}, model.ErrUnsupported, []string{`"refused":"`, `{"name":"num_hidden_layers","value":"7"}`, `{"name":"F16","tensors":1,"elements":2,"bytes":4}`}},
		{[]string{"bare"}, model.ErrUnsupported, []string{"num_hidden_layers 7"}},
		{[]string{"sees"}, model.ErrUnsupported, []string{`model_type "sees"`, "text_config.num_hidden_layers 9"}},
		{[]string{"mamba.gguf"}, model.ErrUnsupported, []string{`general.architecture "mamba"`}},
		{[]string{"damaged"}, model.ErrConfig, nil},
		{[]string{"cut.gguf"}, checkpoint.ErrFormat, nil},
	} {
		c := testCLI(t)
		root := c.root()
		root.SetArgs(append([]string{"inspect", filepath.Join(dir, test.args[0])}, test.args[1:]...))
		if err := root.Execute(); !errors.Is(err, test.reason) {
			t.Errorf("%v: got %v, want %v", test.args, err, test.reason)
		}
		out := strings.Join(strings.Fields(read(t, c.stdout)), " ")
		for _, want := range test.shown {
			if !strings.Contains(out, want) {
				t.Errorf("%v: %q is not in\n%s", test.args, want, out)
			}
		}
		if test.shown == nil && len(out) > 0 {
			t.Errorf("%v: shows\n%s", test.args, out)
		}
	}
	c := testCLI(t)
	var err error
	if c.stdout, err = os.Open(filepath.Join(dir, "awq/config.json")); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.stdout.Close(); err != nil {
			t.Error(err)
		}
	}()
	root := c.root()
	root.SetArgs([]string{"inspect", filepath.Join(dir, "awq")})
	if err := root.Execute(); !errors.Is(err, model.ErrUnsupported) || !strings.Contains(err.Error(), "write") || strings.Contains(err.Error(), "\n") {
		t.Errorf("what cannot be written: %q", err)
	}
}
