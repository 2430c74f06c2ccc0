package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/gpuexec"
)

// onGPU is the command in a process that finds the driver.
func onGPU(t *testing.T, d *emu.Driver, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, args...)
	cmd.Env = append(append(cmd.Env, d.Environment()...), gpuexec.Library+"="+d.Path)
	return cmd
}

// TestCommandOnAGPU generates the beginning of the golden's first text with and without --device, shows
// where it computes, and replays what it has recorded.
func TestCommandOnAGPU(t *testing.T) {
	d := emu.New(t, emu.Options{})
	data, err := os.ReadFile("../checkpoint/tiny/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			PromptIDs []int32 `json:"prompt_ids"`
			Greedy    []int32
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	c, log := golden.Cases[0], filepath.Join(t.TempDir(), "run.jsonl")
	ids := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.PromptIDs), " ", ","), "[]")
	for _, device := range [][]string{nil, {"--device", "cuda:0", "--record", log}} {
		var line struct {
			TokenIDs []int32 `json:"token_ids"`
		}
		args := append([]string{"generate", "--prompt-ids", ids, "--max-new-tokens", "4", "--temperature", "0", "--json", "--max-context", "128"}, device...)
		if err := json.Unmarshal([]byte(output(t, onGPU(t, d, args...))), &line); err != nil || !slices.Equal(line.TokenIDs, c.Greedy[:4]) {
			t.Errorf("%v: %v (%v), want %v", device, line.TokenIDs, err, c.Greedy[:4])
		}
	}
	if told := output(t, onGPU(t, d, "replay", log)); !strings.HasPrefix(told, "1 sequence, 4 tokens equal") {
		t.Errorf("replayed: %s", told)
	}
	told := output(t, onGPU(t, d, "config", "--max-context", "128"))
	for _, part := range []string{"cuda:0 CPU as a GPU bf16", "the first GPU that can compute", "Memory of cuda:0", "Memory of the host"} {
		if !strings.Contains(told, part) {
			t.Errorf("config does not say %q:\n%s", part, told)
		}
	}
}

// output is what a command writes, which succeeds and warns of nothing.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || bytes.Contains(said.Bytes(), []byte("warning")) {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args[1:], " "), err, said.String())
	}
	return string(out)
}
