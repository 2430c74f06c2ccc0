package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		line   string
	}{
		{nil, 0, ""},
		{errors.New("first\nsecond\r\n"), 1, "first; second"},
		{errReported, 1, ""},
		{badUsage("--x is %d", 1), 2, "--x is 1"},
		{usageError{errors.New("unknown flag"), "cbactor bench"}, 2, "unknown flag: see `cbactor bench --help`"},
		{fmt.Errorf("start: %w", engine.ErrConfig), 2, "start: bad engine configuration"},
		{usageError{error: errReported}, 2, ""},
		{badFile("--x", &fs.PathError{Op: "open", Path: "y", Err: fs.ErrNotExist}), 2, "--x: open y: file does not exist"},
		{badFile("--x", fs.ErrPermission), 1, "--x: permission denied"},
		{fmt.Errorf("start: %w: for the pool: %w", engine.ErrMemory, syscall.ENOMEM), 1,
			"start: not enough memory: for the pool: " + syscall.ENOMEM.Error() + ": give the cache fewer blocks with --num-blocks"},
		{fmt.Errorf("start: %w: allow more", engine.ErrMemory), 1, "start: not enough memory: allow more"},
		{fmt.Errorf("write: %w", syscall.EPIPE), 141, ""},
		{interrupted{os.Interrupt}, 130, ""},
		{interrupted{syscall.SIGTERM}, 143, ""},
	} {
		if got := status(c.err); got != c.status {
			t.Errorf("%v: status %d, want %d", c.err, got, c.status)
		}
		if got := errorLine(c.err); got != c.line {
			t.Errorf("%v: line %q, want %q", c.err, got, c.line)
		}
	}
}
