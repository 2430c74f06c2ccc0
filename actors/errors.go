package actors

import (
	"errors"
	"fmt"
)

// Classes of errors. A rejected request will never be accepted as it is; an
// unavailable engine may accept it later, or elsewhere; a failed one was accepted.
var (
	ErrRejected    = errors.New("request rejected")
	ErrUnavailable = errors.New("engine unavailable")
	ErrFailed      = errors.New("request failed")
)

// Causes, each within its class.
var (
	ErrEmptyPrompt = fmt.Errorf("%w: the prompt is empty", ErrRejected)
	ErrVocab       = fmt.Errorf("%w: token id outside the vocabulary", ErrRejected)
	ErrTooLong     = fmt.Errorf("%w: the prompt is longer than the context", ErrRejected)
	ErrNeverFits   = fmt.Errorf("%w: the prompt is larger than the whole cache", ErrRejected)
	ErrParams      = fmt.Errorf("%w: bad parameter", ErrRejected)
	ErrDuplicateID = fmt.Errorf("%w: the request id is in use", ErrRejected)

	// ErrUnknownAdapter means that no adapter of the name is loaded, or not any more.
	ErrUnknownAdapter = fmt.Errorf("%w: no such adapter is loaded", ErrRejected)

	// ErrCancelled means that a request was cancelled while it waited for room.
	ErrCancelled = fmt.Errorf("%w: it was cancelled while it waited for room", ErrRejected)

	ErrQueueFull = fmt.Errorf("%w: the queue is full", ErrUnavailable)
	ErrStopping  = fmt.Errorf("%w: it is stopping", ErrUnavailable)
	ErrClosed    = fmt.Errorf("%w: it is closed", ErrUnavailable)

	ErrPaused   = fmt.Errorf("%w: it is paused", ErrUnavailable)
	ErrAsleep   = fmt.Errorf("%w: it sleeps: wake it", ErrUnavailable)
	ErrHoldLost = fmt.Errorf("%w: the pause is not held any more", ErrUnavailable)

	// ErrNotRunning means that the engine was stopped, or crashed, and may be started again.
	ErrNotRunning = fmt.Errorf("%w: it does not run", ErrUnavailable)

	// ErrStuck means that a step did not end in time after the engine was closed:
	// its thread and memory are lost to the process.
	ErrStuck = fmt.Errorf("%w: a step does not end", ErrFailed)

	ErrStopped = fmt.Errorf("%w: the engine was stopped", ErrFailed)
	ErrCrashed = fmt.Errorf("%w: the engine crashed", ErrFailed)
)
