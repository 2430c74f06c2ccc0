package test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// adapterFlags are those of the model with the adapters that PEFT has written.
func adapterFlags() []string {
	folder := func(name string) string { return filepath.Join("testdata", "adapters", name) }
	return []string{"--model", filepath.Join("testdata", "families", "llama"), "--compute", "f32", "--kv-dtype", "f32", "--temperature", "0", "--max-new-tokens", "24", "--ignore-eos",
		"--adapter", "patterns=" + folder("patterns"), "--adapter", "small=" + folder("bf16")}
}

// Requests of one run with either adapter and with none have the reference's tokens, the
// first adapter where nothing is said.
func TestCommandAdapters(t *testing.T) {
	t.Parallel()
	var lines []string
	want := map[string][]int32{}
	for _, c := range []struct{ folder, key string }{
		{"adapters/patterns", ``}, {"adapters/bf16", `,"adapter":"small"`}, {"families/llama", `,"adapter":""`}, {"adapters/patterns", `,"adapter":"patterns"`},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(c.folder), "golden.json"))
		if err != nil {
			t.Fatal(err)
		}
		var golden struct {
			Prompts, Greedy [][]int32
			MinGap          []float64 `json:"min_gap"`
		}
		if err := json.Unmarshal(data, &golden); err != nil {
			t.Fatal(err)
		}
		for i, p := range golden.Prompts {
			if golden.MinGap[i] > 1e-3 {
				id := fmt.Sprint(len(lines))
				lines = append(lines, fmt.Sprintf(`{"request_id":"%s","prompt_ids":%s%s}`, id, strings.ReplaceAll(fmt.Sprint(p), " ", ","), c.key))
				want[id] = golden.Greedy[i]
			}
		}
	}
	results := generateJSON(t, strings.Join(lines, "\n"), append(adapterFlags(), "--requests", "-")...)
	if len(results) != len(lines) || len(lines) < 12 {
		t.Errorf("%d results of %d requests", len(results), len(lines))
	}
	for _, r := range results {
		if !slices.Equal(r.TokenIDs, want[r.RequestID]) {
			t.Errorf("request %s: %v, want %v", r.RequestID, r.TokenIDs, want[r.RequestID])
		}
	}
}

// What is wrong with an adapter, or with naming one, is said in a line.
func TestCommandRefusesAdapters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--adapter", "a"}, "must be a name, = and a folder"},
		{[]string{"--adapter", "small=x"}, "the name is given twice"},
		{[]string{"--adapter", "b=nowhere"}, "adapter_config.json"},
		{[]string{"--adapter", "b=testdata/adapters/bf16", "--max-adapters", "2"}, "max_adapters is 2"},
		{[]string{"--max-adapter-rank", "2"}, "rank"},
		{[]string{"--model", "tiny"}, "does not fit"},
	} {
		cmd := command(t, append(append([]string{"generate", "--prompt-ids", "1"}, adapterFlags()...), c.args...)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), c.says) {
			t.Errorf("%v: %v: %s, want %q", c.args, err, out, c.says)
		}
	}
}
