package engine

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/cbactor/cbactor/weights"
)

// Status of requests whose client has gone: nginx's, as there is no standard one.
const statusClientGone = 499

// answers are what clients of HTTP are told of errors, the first that fits. Codes are
// OpenAI's where it has one.
var answers = []struct {
	class  error
	status int
	code   string
}{
	{ErrTooLong, http.StatusBadRequest, "context_length_exceeded"},
	{ErrNeverFits, http.StatusBadRequest, "context_length_exceeded"},
	{ErrEmptyPrompt, http.StatusBadRequest, "empty_prompt"},
	{ErrVocab, http.StatusBadRequest, "invalid_token_id"},
	{ErrParams, http.StatusBadRequest, "invalid_value"},
	{ErrDuplicateID, http.StatusConflict, "duplicate_request_id"},
	{ErrUnknownID, http.StatusNotFound, "request_not_found"},
	{ErrRejected, http.StatusBadRequest, "invalid_request"},

	{ErrStale, http.StatusServiceUnavailable, "stale_weights"},
	{ErrQueueFull, http.StatusTooManyRequests, "queue_full"},
	{ErrStopping, http.StatusServiceUnavailable, "engine_stopping"},
	{ErrClosed, http.StatusServiceUnavailable, "engine_closed"},
	{ErrHoldLost, http.StatusConflict, "hold_lost"},
	{ErrPaused, http.StatusServiceUnavailable, "engine_paused"},
	{ErrAsleep, http.StatusServiceUnavailable, "engine_asleep"},
	{ErrBroken, http.StatusServiceUnavailable, "weights_broken"},
	{ErrNotRunning, http.StatusServiceUnavailable, "engine_not_running"},
	{ErrUnavailable, http.StatusServiceUnavailable, "engine_unavailable"},

	{ErrStopped, http.StatusServiceUnavailable, "engine_stopped"},
	{ErrCrashed, http.StatusInternalServerError, "engine_crashed"},
	{ErrHandler, http.StatusInternalServerError, "handler_failed"},
	{ErrFailed, http.StatusInternalServerError, "request_failed"},

	{ErrNoWeights, http.StatusNotImplemented, "no_weights"},
	{weights.ErrBusy, http.StatusConflict, "update_open"},
	{weights.ErrVersion, http.StatusConflict, "wrong_version"},

	{io.EOF, http.StatusNotFound, "nothing_left"}, // of streams and results that were read
	{context.Canceled, statusClientGone, "request_cancelled"},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "timeout"},
}

const codeUnknown = "internal_error"

// HTTPStatus is the status by which a server tells a client of an error: 200 for nil,
// 404 for io.EOF, which means that nothing is left to read, 500 for one that is neither
// of this package nor a context's.
func HTTPStatus(err error) int {
	if err == nil {
		return http.StatusOK
	}
	for _, a := range answers {
		if errors.Is(err, a.class) {
			return a.status
		}
	}
	return http.StatusInternalServerError
}

// Code is the word by which a program tells errors apart, as in the "code" of
// OpenAI's error objects; "" for nil.
func Code(err error) string {
	if err == nil {
		return ""
	}
	for _, a := range answers {
		if errors.Is(err, a.class) {
			return a.code
		}
	}
	return codeUnknown
}
