package remote

import (
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// Errors beside those of package engine, which cross as what they are: errors.Is finds the
// same ones here.
var (
	// ErrUnreachable means that there was no connection for longer than Options.Patience,
	// or none can be. What a call has done is not known then, if it had been sent. Of calls it
	// is of class engine.ErrUnavailable, as the end of a request of class engine.ErrFailed.
	ErrUnreachable = errors.New("the engine cannot be reached")

	// ErrRestarted means that another run of the engine, or an engine that had given up the
	// client, has answered: what was open is gone.
	ErrRestarted = fmt.Errorf("%w: the engine has been restarted", engine.ErrFailed)

	// ErrOther means that another engine has answered, of another model or configuration: a client
	// of that is to be made by Connect.
	ErrOther = fmt.Errorf("%w: what it serves now is something else: connect anew", ErrRestarted)

	// ErrNotRemote means that a request has what cannot be sent: a sampling.Processor or a
	// Request.Stop.
	ErrNotRemote = convert.ErrNotRemote

	// ErrProtocol means that the engine speaks another version of the protocol.
	ErrProtocol = convert.ErrProtocol

	// ErrLimit means that the engine lets a client have no more open.
	ErrLimit = convert.ErrLimit

	// ErrMalformed means that the engine has sent what contradicts the protocol.
	ErrMalformed = convert.ErrMalformed
)

// errorOf is the error that an answer tells of.
func errorOf(m interface{ GetError() *messages.Error }) error { return convert.ErrorOf(m.GetError()) }

// ofCall is what becomes of calls when the engine cannot be reached because of a cause, ofOpen
// what becomes of requests.
func ofCall(cause error) error {
	return fmt.Errorf("%w: %w: %w", engine.ErrUnavailable, ErrUnreachable, cause)
}

func ofOpen(cause error) error {
	return fmt.Errorf("%w: %w: %w", engine.ErrFailed, ErrUnreachable, cause)
}
