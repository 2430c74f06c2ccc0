package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/cbactor/cbactor/bench"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/internal/trace"
	"github.com/cbactor/cbactor/text"
)

// Exit statuses.
const (
	statusFailed = 1
	statusUsage  = 2
	statusPipe   = 128 + 13 // as a shell shows a process that SIGPIPE has ended
)

// errReported means that something failed and that a line about it was written.
var errReported = errors.New("something failed")

// usageError is a mistake in the command line.
type usageError struct {
	error
	command string // whose help to read; "": the message says what to do
}

func (u usageError) Unwrap() error { return u.error }

// badUsage is a usageError that says itself what to do.
func badUsage(format string, args ...any) error {
	return usageError{error: fmt.Errorf(format, args...)}
}

// badFile is what is wrong with a file that a flag names: bad usage if it is not there,
// or not of the kind that the flag is for.
func badFile(flag string, err error) error {
	for _, usage := range []error{fs.ErrNotExist, syscall.EISDIR, bench.ErrFormat, trace.ErrFormat, replaylog.ErrFormat, requests.ErrLine} {
		if errors.Is(err, usage) {
			return badUsage("%s: %w", flag, err)
		}
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// badPrompt says whether what is wrong with a request is what was asked for.
func badPrompt(err error) bool {
	return errors.Is(err, engine.ErrRejected) || errors.Is(err, text.ErrNoTokenizer) || errors.Is(err, text.ErrNoTemplate)
}

// status is the exit status of an error.
func status(err error) int {
	var usage usageError
	var signalled interrupted
	switch {
	case err == nil:
		return 0
	case errors.As(err, &signalled):
		return signalled.status()
	case errors.Is(err, syscall.EPIPE):
		return statusPipe
	case errors.As(err, &usage), errors.Is(err, engine.ErrConfig), errors.Is(err, kernels.ErrUnavailable):
		return statusUsage
	}
	return statusFailed
}

// errorLine is what to say about an error, in one line; "": nothing, as it was
// said or the user knows.
func errorLine(err error) string {
	var usage usageError
	var signalled interrupted
	if err == nil || errors.Is(err, errReported) || errors.As(err, &signalled) || errors.Is(err, syscall.EPIPE) {
		return ""
	}
	line := oneLine(err.Error())
	if errors.Is(err, engine.ErrMemory) && errors.As(err, new(syscall.Errno)) { // the system refuses what the plan allows
		line += ": give the cache fewer blocks with --num-blocks"
	}
	if errors.As(err, &usage) && usage.command != "" {
		line += ": see `" + usage.command + " --help`"
	}
	return line
}

// oneLine joins the lines of a message.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// ended replaces the error of a context by what ended it.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}
