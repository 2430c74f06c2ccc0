package test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint/tiny"
)

// damaged writes the tiny model as a folder, with one of its files changed.
func damaged(t *testing.T, file string, change func([]byte) []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, tiny.FS); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// replace changes the first of before, which must be there.
func replace(t *testing.T, before, after string) func([]byte) []byte {
	return func(data []byte) []byte {
		if !bytes.Contains(data, []byte(before)) {
			t.Errorf("the file has no %s", before)
		}
		return bytes.Replace(data, []byte(before), []byte(after), 1)
	}
}

func headerLength(n uint64) func([]byte) []byte {
	return func(data []byte) []byte {
		binary.LittleEndian.PutUint64(data, n)
		return data
	}
}

func half(data []byte) []byte { return data[:len(data)/2] }

// A damaged or unknown model costs an error of one line, no panic, no time, and
// no memory for what it claims.
func TestHostileModels(t *testing.T) {
	const weights, config, tokenizer = "model.safetensors", "config.json", "tokenizer.json"
	for name, c := range map[string]struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		"truncated weights":   {weights, half, "truncated"},
		"empty weights":       {weights, func([]byte) []byte { return nil }, "0 bytes are too few"},
		"absurd header":       {weights, headerLength(1 << 62), "header of 4611686018427387904 bytes"},
		"long header":         {weights, headerLength(1 << 20), "header"},
		"weights are no JSON": {weights, func(b []byte) []byte { copy(b[8:], "XXXXXXXX"); return b }, "header"},
		"unknown type":        {weights, replace(t, `"dtype":"BF16"`, `"dtype":"QF16"`), `"QF16"`},
		"missing tensor":      {weights, replace(t, `"model.norm.weight"`, `"model.morn.weight"`), "model.norm.weight"},
		"wrong shape":         {config, replace(t, `"intermediate_size": 352`, `"intermediate_size": 384`), "shape"},
		"other vocabulary":    {config, replace(t, `"vocab_size": 2048`, `"vocab_size": 4096`), "4096"},
		"absurd vocabulary":   {config, replace(t, `"vocab_size": 2048`, `"vocab_size": 1000000000000`), "vocab_size"},
		"absurd layers":       {config, replace(t, `"num_hidden_layers": 6`, `"num_hidden_layers": 100000`), "layers"},
		"negative size":       {config, replace(t, `"hidden_size": 128`, `"hidden_size": -128`), "hidden_size"},
		"NaN":                 {config, replace(t, `"rms_norm_eps": 1e-05`, `"rms_norm_eps": NaN`), "config.json"},
		"unknown family":      {config, replace(t, `LlamaForCausalLM`, `MambaForCausalLM`), "MambaForCausalLM"},
		"unknown rope":        {config, replace(t, `"rope_type": "default"`, `"rope_type": "spiral"`), "spiral"},
		"truncated config":    {config, half, "config.json"},
		"damaged tokenizer":   {tokenizer, half, "tokenizer.json"},
	} {
		t.Run(name, func(t *testing.T) { refusesModel(t, damaged(t, c.file, c.change), c.want) })
	}
	for name, c := range map[string]struct{ data, want string }{
		"wrong magic":    {"NOPE" + strings.Repeat("\x00", 100), "GGUF"},
		"truncated GGUF": {"GGUF\x03\x00\x00\x00\x01", "truncated|GGUF"},
		"absurd counts":  {"GGUF\x03\x00\x00\x00" + strings.Repeat("\xff", 7) + "\x7f" + strings.Repeat("\xff", 7) + "\x7f" + strings.Repeat("\x00", 64), "GGUF"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model.gguf")
			if err := os.WriteFile(path, []byte(c.data), 0o644); err != nil {
				t.Fatal(err)
			}
			refusesModel(t, path, c.want)
		})
	}
}

// refusesModel runs the command, which must fail with one of the words in wants.
func refusesModel(t *testing.T, path, wants string) {
	t.Helper()
	cmd := command(t, "generate", "--model", path, "--prompt", "a", "--max-new-tokens", "1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	status := exitStatus(t, runWithin(t, cmd, 120<<20))
	line := stderr.String()
	want := 1
	if strings.Contains(line, "invalid model file") { // the wrong file was asked for
		want = 2
	}
	if status != want || stdout.Len() > 0 || !strings.HasPrefix(line, "cbactor: ") || strings.Count(line, "\n") != 1 {
		t.Fatalf("exit status %d, standard output %q, standard error %q", status, stdout.String(), line)
	}
	found := false
	for want := range strings.SplitSeq(wants, "|") {
		found = found || strings.Contains(line, want)
	}
	if !found {
		t.Errorf("%q has nothing of %q", line, wants)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	t.Log(strings.TrimSpace(line))
}
