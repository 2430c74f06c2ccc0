package test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The program in the README is the one that is compiled, and it does what it says.
func TestReadmeProgram(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("../examples/generate/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```go\n")
	shown, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed || shown != string(program) {
		t.Error("the README does not show examples/generate/main.go as it is")
	}
	out, err := exec.CommandContext(t.Context(), "go", append(withRace("run"), "../examples/generate")...).CombinedOutput()
	const want = "Once upon a time, there was a little girl named Lily"
	if err != nil || !strings.HasPrefix(string(out), want) || !strings.HasSuffix(string(out), "\n(length)\n") {
		t.Errorf("it wrote %q, %v, want %q", out, err, want)
	}
}
