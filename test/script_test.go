package test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cbactor/cbactor/checkpoint/tiny"
	"github.com/cbactor/cbactor/internal/hub/hubtest"
)

// TestScripts runs the command as script/ says.
func TestScripts(t *testing.T) {
	path, err := buildCommand()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(path)+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("CBACTOR_CACHE", filepath.Join(env.WorkDir, "cache"))
			env.Values[servingKey{}] = &serving{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"fails": fails, "tear": tear, "serve": serve, "served": served, "hub": serveHub},
	})
}

var panicked = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+)`)

// fails STATUS PATTERN COMMAND...: the command ends with the exit status and one
// line on standard error, which begins with its name and matches the pattern.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: fails STATUS PATTERN COMMAND...")
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[2], args[3:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != status {
		ts.Fatalf("the command ended with %v, want exit status %d", err, status)
	}
	stderr := ts.ReadFile("stderr")
	if !strings.HasPrefix(stderr, "cbactor: ") || strings.Count(stderr, "\n") != 1 || panicked.MatchString(stderr) {
		ts.Fatalf("standard error is not one line of the command: %q", stderr)
	}
	matched, err := regexp.MatchString(args[1], stderr)
	ts.Check(err)
	if !matched {
		ts.Fatalf("%q does not match %q", stderr, args[1])
	}
}

// hub: starts a hub, which HF_ENDPOINT names from then on. It has the embedded model.
func serveHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: hub")
	}
	server, stop := hubtest.Start()
	ts.Defer(stop)
	files := map[string][]byte{}
	err := fs.WalkDir(tiny.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(tiny.FS, path)
		return err
	})
	ts.Check(err)
	server.Put(files)
	ts.Setenv("HF_ENDPOINT", server.URL)
}

// tear FILE: takes the end of the last line away, which no file here can lack.
func tear(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tear FILE")
	}
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, info.Size()-1))
}
