package engine

import (
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/cpuexec"
)

// Classes, to be tested with errors.Is: a rejected request will never be accepted
// as it is, an unavailable engine may accept it later, a failed one was accepted.
var (
	ErrRejected    = actors.ErrRejected
	ErrUnavailable = actors.ErrUnavailable
	ErrFailed      = actors.ErrFailed
)

// Causes, each within its class.
var (
	ErrEmptyPrompt = actors.ErrEmptyPrompt
	ErrVocab       = actors.ErrVocab
	ErrTooLong     = actors.ErrTooLong
	ErrNeverFits   = actors.ErrNeverFits
	ErrParams      = actors.ErrParams
	ErrDuplicateID = actors.ErrDuplicateID
	ErrUnknownID   = fmt.Errorf("%w: no open request and no unread result has the id", ErrRejected)

	// ErrStale means that the weights are older than a request wants.
	ErrStale = fmt.Errorf("%w: no such version of the weights yet", ErrUnavailable)

	ErrQueueFull = actors.ErrQueueFull
	ErrStopping  = actors.ErrStopping
	ErrClosed    = actors.ErrClosed

	// ErrCancelled is a Submission's answer to one that was cancelled before it was accepted.
	ErrCancelled = actors.ErrCancelled

	ErrPaused   = actors.ErrPaused
	ErrAsleep   = actors.ErrAsleep
	ErrHoldLost = actors.ErrHoldLost

	// ErrNotRunning means that the engine was stopped, or with ErrCrashed that it has
	// crashed: Start begins again.
	ErrNotRunning = actors.ErrNotRunning

	ErrStopped = actors.ErrStopped
	ErrCrashed = actors.ErrCrashed
	ErrStuck   = actors.ErrStuck
	ErrHandler = fmt.Errorf("%w: its handler", ErrFailed)
)

// Causes of adapters refused.
var (
	// ErrUnknownAdapter means that no adapter of the name is loaded, or not any more.
	ErrUnknownAdapter = actors.ErrUnknownAdapter
	// ErrAdapterName means that a name cannot be given to an adapter: no name, or one that
	// an adapter has or had. What was computed under a name must not become another's.
	ErrAdapterName = fmt.Errorf("%w: bad name of an adapter", ErrRejected)
	// ErrAdapter means that the files of an adapter are refused, and says why.
	ErrAdapter = fmt.Errorf("%w: bad adapter", ErrRejected)
	// ErrAdapters means that as many adapters are loaded as max_adapters allows.
	ErrAdapters = fmt.Errorf("%w: no place for an adapter", ErrUnavailable)
)

// ErrConfig is the class of every refused configuration.
var ErrConfig = errors.New("bad engine configuration")

// ErrNotAvailable, within ErrConfig, means that a value of a field asks for what
// does not exist yet.
var ErrNotAvailable = errors.New("not available yet")

// ErrDevice means that the GPU that is asked for cannot be used, and says what is missing. A driver
// that the environment names (gpuexec.Library) is asked for, too.
var ErrDevice = errors.New("the device cannot be used")

// ErrNoWeights means that an engine's weights cannot be changed.
var ErrNoWeights = errors.New("the engine has no weights of its own")

// ErrBroken means that UpdateInPlace has written the weights in part: nothing computes, and
// what is open waits, until a complete update has come.
var ErrBroken = fmt.Errorf("%w: the weights are not whole", ErrUnavailable)

// ErrCommitted means that weights are committed, but could not be made ready, as where
// there is no memory for it: nothing computes, and what is open waits, until Wake succeeds.
var ErrCommitted = fmt.Errorf("%w: the weights are committed, but sleep on: wake them", ErrUnavailable)

// ErrMemory means that the model and a cache do not fit the memory that the engine
// may use.
var ErrMemory = cpuexec.ErrMemory
