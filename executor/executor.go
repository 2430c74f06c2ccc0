package executor

import (
	"errors"

	"github.com/cbactor/cbactor/model"
)

// ErrClosed is the answer after Close: of Start, and of Finish when no step is left.
var ErrClosed = errors.New("executor: closed")

// ErrMemory means that not even one block of cache fits into the memory that an executor may use, or
// that it was refused memory.
var ErrMemory = errors.New("not enough memory")

// ErrAdapters means that an executor has no place for one more adapter.
var ErrAdapters = errors.New("executor: as many adapters are loaded as may be")

// Group is the geometry of one cache group (one kind of attention).
type Group struct {
	Blocks int // usable blocks, numbered from 0
	Host   int // blocks of the host pool, numbered from 0; 0: no pool
	Window int // 0: full attention

	PerSector int // with Info.Sectors: blocks of a sector. Blocks is Sectors times that
}

// Info is what an executor can do. It never changes.
type Info struct {
	Name           string
	PageSize       int // tokens of a block
	Groups         []Group
	Sectors        int // of memory that the groups share: block b of one lies in sector b/PerSector; 0: each has blocks of its own
	MaxSlots       int // sequences at a time
	MaxTokens      int // tokens a step
	MaxContext     int // tokens of a sequence
	Vocab          int
	MaxOutstanding int // steps that may be handed over at once, 1 or 2

	MaxAdapters    int // adapters loaded at a time; 0: the executor is no Adapters
	MaxAdapterRank int // rank of a module of an adapter

	// Sizes are the numbers of rows that steps which decode are padded to, ascending, up to MaxSlots, where the
	// first step of a size makes ready what later ones use. None: every number is alike.
	Sizes []int

	// CopyCost is what it costs to copy a token's cache to the host pool and back,
	// against computing the token. 0: nothing.
	CopyCost float64
	// Overlap says that a CopyIn runs beside the rows of its Batch and is done before
	// those of the next: no row of its Batch may touch what it writes, and no copy
	// behind it what it reads or writes.
	Overlap bool
}

// Sleeper is an Executor that can give memory back while no step is unfinished. It
// answers ErrClosed after Close.
type Sleeper interface {
	Executor
	// Sleep gives back the memory of the cache with its host pool, or of the weights as
	// they are computed with, or both; what was given back before stays so. What the
	// cache held is lost. Start refuses every Batch until Wake. After an error it sleeps
	// only if it did before.
	Sleep(kv, weights bool) error
	// Wake takes back all that Sleep gave. After an error it still sleeps.
	Wake() error
}

// Executor computes steps. Logits of a row depend on its slot's tokens alone,
// to the bit, never on the rest of the Batch, on chunk borders or on block ids.
type Executor interface {
	Info() Info
	// Start hands a Batch over. It does not wait for the step, and is not called
	// with Info().MaxOutstanding steps unfinished. An error means that the Batch
	// breaks the contract, a bug of the caller.
	Start(b *Batch) error
	// Finish waits for the oldest step handed over and fills r. The Batch is the
	// caller's again. It answers ErrClosed after Close when no step is left.
	Finish(r *Result) error
	// Close lets steps handed over end, then frees threads and memory. It may be
	// called while Finish waits. Safe twice.
	Close() error
}

// Adapters is an Executor that computes rows with adapters, each with its slot's own.
// An adapter belongs to no weight epoch: it is added to whatever weights a Batch names.
type Adapters interface {
	Executor
	// LoadAdapter makes an adapter ready, beside steps, from any goroutine. Batches may
	// name it when this has returned. a is the caller's again then. Errors wrap
	// model.ErrAdapter, ErrAdapters or ErrClosed; nothing is loaded then.
	LoadAdapter(name string, a *model.Adapter) error
	// UnloadAdapter frees the place of an adapter that no open slot has, nor a slot of a
	// step that is unfinished: else it answers an error of class ErrContract. It is
	// called from Start's goroutine. The name is not used again.
	UnloadAdapter(name string) error
}
