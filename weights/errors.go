package weights

import (
	"errors"

	"github.com/cbactor/cbactor/model"
)

var (
	// ErrMissing means that a tensor of the model is not in the source, or was not
	// sent whole yet.
	ErrMissing = model.ErrMissing
	// ErrShape means that a tensor has another shape than the configuration says.
	ErrShape = errors.New("weights: tensor has a wrong shape")
	// ErrUnknown means that a tensor is none that the model, or the manifest, has.
	ErrUnknown = errors.New("weights: tensor is not known")
	// ErrRead means that the source could not give a tensor.
	ErrRead = errors.New("weights: tensor cannot be read")
	// ErrDType means that a tensor is sent in a type that an update cannot take.
	ErrDType = errors.New("weights: tensor has a wrong type")
	// ErrTwice means that a tensor, or a part of one, was sent twice, and differs.
	ErrTwice = errors.New("weights: tensor is there twice")
	// ErrTied means that an output head which is the embedding differs from it.
	ErrTied = errors.New("weights: tied head differs from the embedding")
	// ErrDigest means that what arrived is not what the manifest says, or that a
	// digest cannot be read.
	ErrDigest = errors.New("weights: wrong digest")
	// ErrNotFinite means that a number is NaN or infinite.
	ErrNotFinite = errors.New("weights: number is not finite")
	// ErrIndex means that the indices of a sparse update are not ascending, or
	// outside of their tensor.
	ErrIndex = errors.New("weights: wrong index")
	// ErrChunk means that a chunk does not lie within its tensor, in whole numbers.
	ErrChunk = errors.New("weights: chunk does not fit")

	// ErrMemory means that an update does not fit the memory that a Store may take.
	ErrMemory = errors.New("weights: no memory")
	// ErrBusy means that an update is open already.
	ErrBusy = errors.New("weights: an update is open")
	// ErrInUse means that a set cannot be overwritten, since somebody computes with it or
	// reads it.
	ErrInUse = errors.New("weights: set is in use")
	// ErrVersion means that a version is not the one that is needed, or not kept.
	ErrVersion = errors.New("weights: wrong version")
	// ErrBroken means that the set that serves was overwritten in part: a complete one must
	// be sent.
	ErrBroken = errors.New("weights: set is broken")
	// ErrPanicked means that the source of the tensors of an update panicked.
	ErrPanicked = errors.New("weights: the source of the tensors panicked")
	// ErrClosed means that an update was committed or aborted.
	ErrClosed = errors.New("weights: update is closed")
)
