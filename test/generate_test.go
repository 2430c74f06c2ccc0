package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The command's greedy tokens are those of the reference, in float32.
func TestCommandGolden(t *testing.T) {
	data, err := os.ReadFile("../checkpoint/tiny/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Text      string
			PromptIDs []int32 `json:"prompt_ids"`
			Greedy    []int32
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	c := golden.Cases[0]
	got := generateJSON(t, "", "--compute", "f32", "--kv-dtype", "f32", "--temperature", "0", "--max-new-tokens", "24", "--prompt", c.Text)[0]
	if !slices.Equal(got.PromptIDs, c.PromptIDs) || !slices.Equal(got.TokenIDs, c.Greedy[:24]) {
		t.Errorf("prompt %v tokens %v, want %v and %v", got.PromptIDs, got.TokenIDs, c.PromptIDs, c.Greedy[:24])
	}
	t.Logf("golden: %q: %d tokens of the command equal", c.Text, len(got.TokenIDs))
}

// A request of a file gets the tokens that it gets alone, greedy or sampled.
func TestFileEqualsEachAlone(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf(`{"request_id":"r%d","prompt":"%s","max_new_tokens":%d,"temperature":%g,"seed":%d,"ignore_eos":%t}`,
			i, strings.Repeat("One day, a dog. ", 1+i*3), 5+7*i, float64(i%3)/2, i, i%2 == 0))
	}
	together := generateJSON(t, strings.Join(lines, "\n"), "--requests", "-", "--max-requests-per-batch", "5", "--max-batch-tokens", "40")
	if len(together) != len(lines) {
		t.Fatalf("%d results", len(together))
	}
	for _, r := range together {
		var i int
		if _, err := fmt.Sscanf(r.RequestID, "r%d", &i); err != nil {
			t.Fatal(err)
		}
		alone := generateJSON(t, lines[i], "--requests", "-")[0]
		if !slices.Equal(alone.TokenIDs, r.TokenIDs) || alone.Text != r.Text || alone.FinishReason != r.FinishReason {
			t.Errorf("%s: alone %+v, together %+v", r.RequestID, alone, r)
		}
		if r.Usage.CompletionTokens != len(r.TokenIDs) || r.Usage.PromptTokens != len(r.PromptIDs) {
			t.Errorf("%s: usage %+v for %d and %d ids", r.RequestID, r.Usage, len(r.PromptIDs), len(r.TokenIDs))
		}
	}
}

// The token that ended a request is among its ids and not in its text.
func TestEndTokenIsNoText(t *testing.T) {
	t.Parallel()
	const chat = "Write a story about a kite."
	r := generateJSON(t, "", "--temperature", "0", "--max-new-tokens", "600", "--chat", chat)[0]
	last := r.TokenIDs[len(r.TokenIDs)-1]
	if r.FinishReason != "stop" || last != 0 && last != 2 || strings.Contains(r.Text, "<|") {
		t.Fatalf("ended by %d, %s: %q", last, r.FinishReason, r.Text)
	}
	on := generateJSON(t, "", "--temperature", "0", "--max-new-tokens", fmt.Sprint(len(r.TokenIDs)+5), "--ignore-eos", "--chat", chat)[0]
	if on.FinishReason != "length" || !slices.Equal(on.TokenIDs[:len(r.TokenIDs)], r.TokenIDs) || !strings.HasPrefix(on.Text, r.Text) {
		t.Errorf("ignoring the end: %s, %q", on.FinishReason, on.Text)
	}
}

// What is no prompt on standard input is bad usage: nothing, as stories are for
// terminals, and what is no text.
func TestNoPromptOnStandardInput(t *testing.T) {
	for _, c := range []struct {
		stdin io.Reader // nil: the null device
		want  string
	}{{nil, "the prompt on standard input is empty"}, {strings.NewReader("ca\xe9"), "standard input: the prompt is not UTF-8: byte 3 is 0xe9"}} {
		cmd := command(t, "generate", "--max-new-tokens", "3")
		cmd.Stdin = c.stdin
		out, err := cmd.CombinedOutput()
		if status := exitStatus(t, err); status != 2 || !strings.Contains(string(out), c.want) {
			t.Errorf("exit status %d, %s", status, out)
		}
	}
}

// Results that a shell appends to the file that is resumed follow its last whole line.
func TestResumeOntoItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	const done = `{"request_id":"line-1","prompt_ids":[1],"finish_reason":"stop"}` + "\n"
	if err := os.WriteFile(path, []byte(done+`{"request_id":"line-2","fin`), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "generate", "--json", "--max-new-tokens", "1", "--requests", "-", "--resume", path)
	cmd.Stdin, cmd.Stdout = strings.NewReader(`{"prompt_ids":[1]}`+"\n"+`{"prompt_ids":[2]}`), out
	if err := errors.Join(cmd.Run(), out.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := results(t, string(data))
	if !strings.HasPrefix(string(data), done) || len(all) != 2 || all[1].RequestID != "line-2" {
		t.Errorf("the file has %s", data)
	}
}

// A second process is kept away from the file that the first one appends to.
func TestResumeByTwo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.jsonl")
	first := command(t, "generate", "--max-new-tokens", "1", "--requests", "-", "--resume", path)
	stdin, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, `{"prompt_ids":[1]}`+"\n"); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(time.Millisecond) { // until it has the file
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			break
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatal("no result came")
		}
	}
	second := command(t, "generate", "--max-new-tokens", "1", "--requests", "-", "--resume", path)
	second.Stdin = strings.NewReader(`{"prompt_ids":[2]}`)
	out, err := second.CombinedOutput()
	if status := exitStatus(t, err); status != 1 || !strings.Contains(string(out), "another process is writing to it") {
		t.Errorf("the second one ended with %d, %s", status, out)
	}
	if err := errors.Join(stdin.Close(), first.Wait()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if all := results(t, string(data)); len(all) != 1 || all[0].PromptIDs[0] != 1 {
		t.Errorf("the file has %s", data)
	}
}

// A long file is read only as fast as it is served, in bounded memory.
func TestLongFile(t *testing.T) {
	t.Parallel()
	const count = 1000
	padding := strings.Repeat(" ", 100_000)
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		if _, err := fmt.Fprintf(file, `{"prompt_ids":[%d],"max_new_tokens":1,%s"temperature":0}`+"\n", i%2048, padding); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "generate", "--json", "--requests", path)
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := runWithin(t, cmd, 90<<20); err != nil { // less than the file
		t.Fatalf("%v: %s", err, said.String())
	}
	seen := map[string]bool{}
	for _, r := range results(t, out.String()) {
		seen[r.RequestID] = true
	}
	if len(seen) != count || !seen["line-1"] || !seen[fmt.Sprintf("line-%d", count)] {
		t.Errorf("%d results", len(seen))
	}
}
