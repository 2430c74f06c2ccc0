package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// otherWeights writes the embedded model with some signs turned over.
func otherWeights(t *testing.T) (folder string) {
	t.Helper()
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(t.TempDir(), "v2")
	if err := checkpoint.WriteBF16(folder, c); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "model.safetensors")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) - 1; i > len(data)/2; i -= 2 * 13 {
		data[i] ^= 0x80
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// recordUpdate records a run in which a checkpoint becomes version v2.
func recordUpdate(t *testing.T, log, folder string) {
	t.Helper()
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Spawn(t.Context(), engine.Config{Checkpoint: c, Record: file, WeightSets: 2, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	request := []engine.Request{{PromptIDs: []int32{0, 327, 329, 259}, MaxNewTokens: 12, IgnoreEOS: true}}
	generate := func() {
		if _, err := e.GenerateBatch(t.Context(), request, engine.BatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	generate()
	next, err := checkpoint.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	set, err := weights.Load(next.Config, next, 1, "v2")
	if err != nil {
		t.Fatal(err)
	}
	o := engine.UpdateOptions{Version: "v2"}
	for w := range set.All() {
		o.Manifest.Tensors = append(o.Manifest.Tensors, weights.Entry{Name: w.Name, DType: w.DType.String(), Shape: w.Shape})
	}
	u, err := e.Update(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for w := range set.All() {
		if err := u.Put(w.Name, w.DType.String(), w.Shape, 0, w.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	generate()
	for _, end := range []func() error{e.Close, next.Close, c.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// The weights that a program sent are those of a checkpoint that is named, and no others.
func TestReplayWithWeightsThatWereSent(t *testing.T) {
	folder, log := otherWeights(t), filepath.Join(t.TempDir(), "run.jsonl")
	recordUpdate(t, log, folder)
	for name, c := range map[string]struct {
		args   []string
		status int
		out    string // on either stream
	}{
		"right":         {[]string{"--weights", "v2=" + folder}, 0, "2 sequences, 24 tokens equal: nothing differs\n"},
		"both named":    {[]string{"--weights", "v2=" + folder, "--weights", "default=tiny"}, 0, "nothing differs\n"},
		"json":          {[]string{"--weights", "v2=" + folder, "--json", "--threads", "1"}, 0, `"tokens":24,"differ":0,`},
		"not named":     {nil, 2, `weights "v2": the program has sent them: give --weights v2=PATH`},
		"others":        {[]string{"--weights", "v2=tiny"}, 1, `the weights given as version "v2" have xxh3-128:`},
		"other model":   {[]string{"--model", folder, "--weights", "v2=" + folder}, 1, `the weights given as version "default" have`},
		"twice":         {[]string{"--weights", "v2=a", "--weights", "v2=b"}, 2, "is given twice"},
		"model twice":   {[]string{"--model", "tiny", "--weights", "default=b"}, 2, "give one"},
		"no assignment": {[]string{"--weights", "v2"}, 2, "VERSION=PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			cli := testCLI(t)
			got := cli.run(append([]string{"replay", log, "--threads", "2"}, c.args...))
			if out := read(t, cli.stdout) + read(t, cli.stderr); got != c.status || !strings.Contains(out, c.out) {
				t.Errorf("status %d, want %d: %s", got, c.status, out)
			}
		})
	}
}
