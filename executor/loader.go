package executor

import (
	"context"
	"errors"

	"github.com/cbactor/cbactor/weights"
)

// ErrFull is the answer of Load where no place is left for another set: one must be
// dropped before.
var ErrFull = errors.New("executor: no place for another weight set")

// Loader is an Executor whose weights can be replaced while it runs. Its methods are
// called by one goroutine at a time, beside Start and Finish, and answer ErrClosed
// after Close.
//
// It has places for some sets, whatever their epochs are. A set whose tensors are
// all those of a loaded one (weights.Set.Same) is ready at once, in its place.
type Loader interface {
	Executor
	// Load makes a set ready beside the steps that run; it belongs to the executor
	// until it is dropped. Batches may then name its epoch. An error, ErrFull and that of
	// ctx among them, leaves everything as it was.
	Load(ctx context.Context, set *weights.Set) error
	// Drop gives up the set of an epoch, and its place. No Batch in flight names it,
	// and none will: one that is in flight is ErrContract, and the set stays.
	Drop(epoch uint32) error
}
