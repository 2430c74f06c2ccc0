package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine/texts"
)

// testCLI is a command whose streams are files.
func testCLI(t *testing.T) *cli {
	t.Helper()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		return f
	}
	stderr := open("stderr")
	return &cli{stdout: open("stdout"), stderr: stderr, console: show.NewConsole(stderr)}
}

func read(t *testing.T, f *os.File) string {
	t.Helper()
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWait(t *testing.T) {
	c := testCLI(t)
	broken := errors.New("disk on fire")
	if n, err := wait(t.Context(), c, "", func() (int, error) { return 7, broken }); n != 7 || err != broken {
		t.Errorf("%d, %v", n, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stuck := make(chan struct{})
	defer close(stuck)
	time.AfterFunc(time.Millisecond, func() { cancel(interrupted{os.Interrupt}) })
	_, err := wait(ctx, c, "", func() (int, error) { <-stuck; return 0, nil })
	if status(err) != 130 {
		t.Errorf("a wait that was interrupted ends with %v", err)
	}
}

// Prompts that were cancelled while the model was read have their results.
func TestPromptsThatNeverBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		cancelled, json bool
		lines           int
	}{{false, true, 0}, {true, true, 2}, {true, false, 0}} {
		if c.cancelled {
			cancel()
		}
		to := testCLI(t)
		in := &input{prompts: make([]texts.Prompt, 2)}
		if err := to.neverBegun(ctx, in, c.json, show.NewTally(2, time.Now())); err != nil {
			t.Fatal(err)
		}
		out := read(t, to.stdout)
		if strings.Count(out, `"finish_reason":"cancelled"`) != c.lines || strings.Count(out, "\n") != c.lines {
			t.Errorf("%+v: standard output has %s", c, out)
		}
		if said := strings.Contains(read(t, to.stderr), "2 requests, 2 cancelled; "); said != c.cancelled {
			t.Errorf("%+v: the summary is said: %t", c, said)
		}
	}
	cancel()
}
