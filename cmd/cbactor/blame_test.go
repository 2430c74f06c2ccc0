package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
)

// A failure names its request once, and has no words for programs.
func TestFailuresNameTheirRequest(t *testing.T) {
	refusal := fmt.Errorf("request %q: %w: %w", "a", engine.ErrParams, sampling.Params{Temperature: 3}.Check())
	reader := requests.NewReader(strings.NewReader(`{"prompt":"x","request_id":"a"}`), "f.jsonl", requests.Settings{})
	line, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	of := failing("a", nil)
	inFile := of
	inFile.line = reader.Place(line)
	for _, c := range []struct {
		job        job
		err        error
		said, told string
	}{
		{of, refusal, "a/1: temperature is 3, must be from 0 to 2", "temperature is 3, must be from 0 to 2"},
		{inFile, refusal, "f.jsonl:1: temperature is 3, must be from 0 to 2", "line 1: temperature is 3, must be from 0 to 2"},
		{inFile, fmt.Errorf("%w: NaN", engine.ErrFailed), "f.jsonl:1: request failed: NaN", "line 1: request failed: NaN"},
		{inFile, inFile.line.With(errors.New("odd")), "f.jsonl:1: odd", "line 1: odd"},
	} {
		r := &show.Result{RequestID: "a/1", Err: c.err}
		c.job.blame(r)
		if r.Err.Error() != c.said || r.Error != c.told || !errors.Is(r.Err, c.err) || errors.Is(r.Err, requests.ErrLine) {
			t.Errorf("%v: %q and %q, want %q and %q", c.err, r.Err, r.Error, c.said, c.told)
		}
	}
}

// Of one reason ten failures are told, of many a hundred, and then how many more.
func TestComplaintsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		reason      func(i int) error
		lines, last string
	}{
		"alike":     {func(int) error { return errors.New("odd") }, "10", "490 more requests failed, too: --json says why for each"},
		"different": {func(i int) error { return fmt.Errorf("odd %d", i) }, "100", "400 more requests failed, too: --json says why for each"},
	} {
		file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
		if err != nil {
			t.Fatal(err)
		}
		p := &complaints{cli: &cli{console: show.NewConsole(file)}, alike: map[string]int{}}
		at := &requests.LineError{File: "f", Read: true}
		for i := range 500 {
			at.Line = i
			p.add(at.With(c.reason(i)))
		}
		p.close(500)
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if got := fmt.Sprint(len(lines) - 1); got != c.lines || lines[len(lines)-1] != "cbactor: "+c.last {
			t.Errorf("%s: %s lines, the last %q", name, got, lines[len(lines)-1])
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
}
