package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// Every error of the package has its status and code, wrapped or not, and no two
// causes of different meaning have the same code.
func TestErrorsAsHTTPHasThem(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{nil, 200, ""},
		{ErrTooLong, 400, "context_length_exceeded"},
		{ErrNeverFits, 400, "cache_too_small"},
		{ErrEmptyPrompt, 400, "empty_prompt"},
		{ErrVocab, 400, "invalid_token_id"},
		{ErrParams, 400, "invalid_value"},
		{ErrDuplicateID, 409, "duplicate_request_id"},
		{ErrUnknownID, 404, "request_not_found"},
		{ErrRejected, 400, "invalid_request"},
		{ErrQueueFull, 429, "queue_full"},
		{ErrStopping, 503, "engine_stopping"},
		{ErrClosed, 503, "engine_closed"},
		{ErrNotRunning, 503, "engine_not_running"},
		{fmt.Errorf("%w: %w", ErrNotRunning, ErrCrashed), 503, "engine_not_running"},
		{ErrUnavailable, 503, "engine_unavailable"},
		{ErrStopped, 503, "engine_stopped"},
		{ErrCrashed, 500, "engine_crashed"},
		{ErrHandler, 500, "handler_failed"},
		{ErrStuck, 500, "step_stuck"},
		{ErrUnknownAdapter, 404, "adapter_not_found"},
		{fmt.Errorf("%w: %w", ErrNoWeights, executor.ErrUnsupported), 501, "no_weights"},
		{weights.ErrMissing, 409, "tensor_missing"},
		{ErrFailed, 500, "request_failed"},
		{io.EOF, 404, "nothing_left"},
		{context.Canceled, 499, "request_cancelled"},
		{context.DeadlineExceeded, 504, "timeout"},
		{ErrConfig, 500, "internal_error"},
		{errors.New("any other"), 500, "internal_error"},
	} {
		for _, err := range []error{c.err, fmt.Errorf("request %q: %w", "a", c.err)} {
			if c.err == nil {
				err = nil
			}
			if got, code := HTTPStatus(err), Code(err); got != c.status || code != c.code {
				t.Errorf("%v: %d %s, want %d %s", err, got, code, c.status, c.code)
			}
		}
	}
}

// A code names one error, which has it: classes stand behind their causes.
func TestCodesNameOneError(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range answers {
		if seen[a.code] {
			t.Errorf("%s stands for two errors", a.code)
		}
		seen[a.code] = true
		if got := Code(a.class); got != a.code {
			t.Errorf("%v has the code %s, want %s", a.class, got, a.code)
		}
		if got := ByCode(a.code); got != a.class {
			t.Errorf("%s names %v, want %v", a.code, got, a.class)
		}
	}
	if err := ByCode(codeUnknown); err != nil {
		t.Errorf("%s names %v", codeUnknown, err)
	}
}
