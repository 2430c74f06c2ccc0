package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// commandDir is where the command is built, on its first use.
var commandDir string

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
	status := m.Run()
	if commandDir != "" {
		if err := os.RemoveAll(commandDir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(status)
}

// commandRaced says whether commands are built with the race detector: where the tests have it,
// unless they are to be short, as each start takes a second longer then.
func commandRaced() bool { return underRace && !testing.Short() }

// withRace are the arguments of a go command that builds a command.
func withRace(args ...string) []string {
	if commandRaced() {
		args = append(args, "-race")
	}
	return args
}

// buildCommand builds the command.
var buildCommand = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "cbactor-test-")
	if err != nil {
		return "", err
	}
	commandDir = dir
	path := filepath.Join(dir, "cbactor")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := readSources(); err != nil {
		return "", err
	}
	out, err := exec.Command("go", append(withRace("build"), "-o", path, "../cmd/cbactor")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// readSources looks at every file of the project, so that `go test` knows that a
// result depends on them: it does not see what the build reads.
func readSources() error {
	return filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // a file that came and went
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "docs"):
			return fs.SkipDir
		case d.Type().IsRegular():
			if _, err := os.Stat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// command is the command with arguments, not started. It finds no fetched models.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	path, err := buildCommand()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "CBACTOR_CACHE="+filepath.Join(commandDir, "none"))
	return cmd
}

// exitStatus is the exit status of a process that Wait or Run gave err for.
func exitStatus(t testing.TB, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return -1
}

// result is a line of `generate --json`.
type result struct {
	RequestID    string  `json:"request_id"`
	PromptIDs    []int32 `json:"prompt_ids"`
	TokenIDs     []int32 `json:"token_ids"`
	Text         string  `json:"text"`
	FinishReason string  `json:"finish_reason"`
	Usage        struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		CachedTokens     int `json:"cached_tokens"`
	} `json:"usage"`
	Error string `json:"error"`

	Stop           string          `json:"stop"`
	Logprobs       json.RawMessage `json:"logprobs"`
	PromptLogprobs json.RawMessage `json:"prompt_logprobs"`
	Timing         json.RawMessage `json:"timing"`
}

// results reads JSON lines; nothing else may be among them.
func results(t testing.TB, output string) []result {
	t.Helper()
	var all []result
	for line := range strings.Lines(output) {
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		var r result
		if err := dec.Decode(&r); err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, r)
	}
	return all
}

// generateJSON runs `generate --json` with the arguments, and must succeed.
func generateJSON(t testing.TB, stdin string, args ...string) []result {
	t.Helper()
	cmd := command(t, append([]string{"generate", "--json"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return results(t, stdout.String())
}
