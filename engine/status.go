package engine

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// Status of requests whose client has gone: nginx's, as there is no standard one.
const statusClientGone = 499

// answers are what clients on the network are told of errors, the first that fits. Codes
// are OpenAI's where it has one; each belongs to one class alone.
var answers = []struct {
	class  error
	status int
	code   string
}{
	{ErrTooLong, http.StatusBadRequest, "context_length_exceeded"},
	{ErrNeverFits, http.StatusBadRequest, "cache_too_small"},
	{ErrEmptyPrompt, http.StatusBadRequest, "empty_prompt"},
	{ErrVocab, http.StatusBadRequest, "invalid_token_id"},
	{ErrParams, http.StatusBadRequest, "invalid_value"},
	{ErrDuplicateID, http.StatusConflict, "duplicate_request_id"},
	{ErrUnknownID, http.StatusNotFound, "request_not_found"},
	{ErrUnknownAdapter, http.StatusNotFound, "adapter_not_found"},
	{ErrAdapterName, http.StatusBadRequest, "adapter_name"},
	{ErrAdapter, http.StatusBadRequest, "bad_adapter"},
	{ErrRejected, http.StatusBadRequest, "invalid_request"},

	{ErrStale, http.StatusServiceUnavailable, "stale_weights"},
	{ErrQueueFull, http.StatusTooManyRequests, "queue_full"},
	{ErrStopping, http.StatusServiceUnavailable, "engine_stopping"},
	{ErrClosed, http.StatusServiceUnavailable, "engine_closed"},
	{ErrHoldLost, http.StatusConflict, "hold_lost"},
	{ErrPaused, http.StatusServiceUnavailable, "engine_paused"},
	{ErrAsleep, http.StatusServiceUnavailable, "engine_asleep"},
	{ErrCommitted, http.StatusServiceUnavailable, "weights_asleep"},
	{ErrBroken, http.StatusServiceUnavailable, "weights_broken"},
	{ErrNotRunning, http.StatusServiceUnavailable, "engine_not_running"},
	{ErrAdapters, http.StatusConflict, "adapters_full"}, // until somebody unloads one
	{ErrUnavailable, http.StatusServiceUnavailable, "engine_unavailable"},

	{ErrStopped, http.StatusServiceUnavailable, "engine_stopped"},
	{ErrCrashed, http.StatusInternalServerError, "engine_crashed"},
	{ErrHandler, http.StatusInternalServerError, "handler_failed"},
	{ErrStuck, http.StatusInternalServerError, "step_stuck"},
	{ErrFailed, http.StatusInternalServerError, "request_failed"},

	{ErrNoWeights, http.StatusNotImplemented, "no_weights"},
	{executor.ErrUnsupported, http.StatusNotImplemented, "not_supported"},
	{weights.ErrBroken, http.StatusConflict, "weights_set_broken"},
	{weights.ErrBusy, http.StatusConflict, "update_open"},
	{weights.ErrInUse, http.StatusConflict, "weights_in_use"},
	{weights.ErrVersion, http.StatusConflict, "wrong_version"},
	{weights.ErrClosed, http.StatusConflict, "update_closed"},
	{weights.ErrMissing, http.StatusConflict, "tensor_missing"},
	{weights.ErrTwice, http.StatusConflict, "tensor_twice"},
	{weights.ErrUnknown, http.StatusNotFound, "tensor_not_found"},
	{weights.ErrShape, http.StatusBadRequest, "tensor_shape"},
	{weights.ErrDType, http.StatusBadRequest, "tensor_type"},
	{weights.ErrTied, http.StatusBadRequest, "tensor_tied"},
	{weights.ErrChunk, http.StatusBadRequest, "tensor_chunk"},
	{weights.ErrIndex, http.StatusBadRequest, "tensor_index"},
	{weights.ErrNotFinite, http.StatusBadRequest, "not_finite"},
	{weights.ErrDigest, http.StatusBadRequest, "wrong_digest"},
	{weights.ErrRead, http.StatusInternalServerError, "tensor_unreadable"},
	{weights.ErrMemory, http.StatusInsufficientStorage, "update_memory"},
	{ErrMemory, http.StatusInsufficientStorage, "engine_memory"},

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

// ByCode is the error that Code has the word for, so that who has been told a code can
// tell errors apart with errors.Is; nil: it is no cause of its own.
func ByCode(code string) error {
	for _, a := range answers {
		if a.code == code {
			return a.class
		}
	}
	return nil
}
