package engine

import (
	"context"
	"io/fs"
	"iter"

	"github.com/cbactor/cbactor/weights"
)

// API is what an Engine does, and a client of package remote for one that is elsewhere:
// a program that takes an API runs with either. The methods of Engine and Front say what
// each does; package remote, where the network makes a difference.
type API interface {
	AddRequest(ctx context.Context, r Request) (*Stream, error)
	AddRequests(ctx context.Context, requests []Request) (ids []string, err error)
	GenerateBatch(ctx context.Context, requests []Request, o BatchOptions) ([]Output, error)
	Result(ctx context.Context, id string) (Output, error)
	NextResult(ctx context.Context) (Output, error)
	Results(ctx context.Context) iter.Seq2[Output, error]
	ResultsOf(ctx context.Context, id string) iter.Seq2[Chunk, error]
	Handle(id string, handler func(Chunk)) error
	HandlerPanics() uint64
	Cancel(id string)

	Info() Info
	Status() Status
	Running() bool
	Metrics() Metrics
	Start(ctx context.Context) error
	Stop(ctx context.Context, o StopOptions) error
	Join(ctx context.Context) error
	Warmup(ctx context.Context, progress func(done, total int)) error
	Close() error

	Pause(ctx context.Context, o PauseOptions) (Hold, error)
	Sleep(ctx context.Context, parts Part) error
	Wake(ctx context.Context) error

	Version() string
	Kept() string
	Update(ctx context.Context, o UpdateOptions) (Update, error)
	UpdateInPlace(ctx context.Context, o UpdateOptions, send weights.Send) error
	Rollback(ctx context.Context, version string, kv KVPolicy) error
	Checksum(ctx context.Context, kind weights.DigestKind) (version string, digest weights.Digest, err error)

	LoadAdapter(ctx context.Context, name string, folder fs.FS) error
	UnloadAdapter(ctx context.Context, name string) error
	Adapters() []Adapter
}

// Hold is a holder's share of a pause. Its methods may be called from any goroutine.
type Hold interface {
	// Release leaves the pause: if nobody else holds it, generation goes on. If anything was
	// written to Weights it is committed before, as an update of that version with the policy
	// KVKeep; an error of that leaves the weights as they were before, and what was written
	// is lost, but for ErrCommitted. So it is if the hold ends before that is in force, by its
	// lease or its context, which bound the wait for others who change the weights: an
	// ErrHoldLost. Once it was released, Release does nothing.
	Release(version string) error
	// Renew lets the lease begin again. The error is an ErrHoldLost, or says that the
	// engine has ended.
	Renew() error
	// Done is closed when the pause is not held any more: see Err.
	Done() <-chan struct{}
	// Err is nil while the pause is held, and after Release; else it is an ErrHoldLost
	// that says how it ended.
	Err() error
	// Logits computes the logits behind the last of ids, one for each id of the
	// vocabulary, while the pause is held. It goes before all requests: if the cache has no
	// room for it, those are given up that would be in any other case, and computed again.
	// All of it is by the same weights: those that serve when the last of it is computed.
	// Prompts that are refused to others are so here; while the engine sleeps, or when it
	// falls asleep before they are computed, the error is ErrAsleep.
	Logits(ctx context.Context, ids []int32) ([]float32, error)
	// Weights are the weights that serve. They are the same ones at every call, with what was
	// written, whatever serves meanwhile. They keep their memory until the hold ends. An
	// executor of the caller's has none to give: ErrNoWeights.
	Weights(ctx context.Context) (HeldWeights, error)
}

// HeldWeights are the weights that serve, for the holder of a pause to read and write.
// What is written computes from Hold.Release on, as a whole, or never.
type HeldWeights interface {
	// Names are the tensors' Hugging Face names, in order.
	Names() []string
	// Tensor is a tensor by its name: the first call copies it, all give the same bytes,
	// which are the holder's to read and to write until Release, and beside the engine's
	// plan of memory. They are little-endian, in
	// the type that is stored; a quantised tensor is F32 here, and becomes so if it is
	// written. weights.ErrUnknown means that there is none, ErrHoldLost that the hold has ended.
	Tensor(name string) (weights.Tensor, error)
}

// Update is a set of weights on its way. What is sent is staged and checked beside
// generation, which nothing of it touches before Commit. Its methods may be called
// from any goroutine.
type Update interface {
	// Dropped is the version that had to give up its memory for the update, so that there
	// is no way back to it, whatever becomes of the update; "": none.
	Dropped() string
	// Put takes bytes of a tensor of the manifest, as weights.Update.Put does: in any
	// order, any number of times. Only an error that says that bytes are wrong ends the
	// update. While requests are open, it rests as long as it works.
	Put(name, dtype string, shape []int, offset int, data []byte) error
	// Missing is what has not arrived.
	Missing(ctx context.Context) ([]weights.Gap, error)
	// Commit checks what was sent, makes it ready beside the steps that run, and lets the
	// next plan compute with it. It returns when no step computes with the weights before,
	// which are kept for Rollback, in the place of those kept so far, until the next Commit
	// or an Update that needs their memory. No step waits for it.
	//
	// Any error leaves the weights that serve as they are, to the bit, but for ErrCommitted:
	// the new ones are in force, and sleep. After an ErrMissing the rest may be sent; after
	// most others, such as weights.ErrVersion or that bytes are wrong, only Abort is left. ctx is looked at until the weights are ready.
	Commit(ctx context.Context) error
	// Abort gives up an update and its memory. After Commit it does nothing. It waits for
	// others who change the weights for 10 s at most: then the memory is given up behind them.
	Abort()
}

var _ API = (*Engine)(nil)
