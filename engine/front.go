package engine

import (
	"context"
	"sync/atomic"

	"github.com/rs/zerolog"
)

// Front takes requests and gives what comes of them: as streams, by id, to handlers, in
// batches. Where they are computed is its Place. An Engine has one, and so has who speaks
// for an engine that is elsewhere; their users call its methods as theirs.
type Front struct {
	place    Place
	options  FrontOptions
	requests *requests
	versions *versions
	closed   atomic.Bool
	panics   atomic.Uint64 // of handlers
}

// FrontOptions say how a Front treats requests.
type FrontOptions struct {
	Names    string         // requests without an id are called so, with a number behind it
	Logprobs bool           // are told where a request asks nothing else
	Sharing  bool           // equal beginnings are computed once: AddRequests lets them come together
	Log      zerolog.Logger // handlers that panic
}

func newFront(p Place, o FrontOptions) *Front {
	return &Front{place: p, options: o, requests: newRequests(), versions: newVersions()}
}

// NewFront makes a Front for requests that are computed at a Place outside of this
// package, and what that needs of it.
func NewFront(p Place, o FrontOptions) (*Front, *Back) {
	f := newFront(p, o)
	return f, &Back{f}
}

// Back is a Front as its Place sees it. Its methods may be called from any goroutine.
type Back struct{ front *Front }

// Add is AddRequest of a request with more to it than a Request has: see Order.More.
func (b *Back) Add(ctx context.Context, r Request, more any) (*Stream, error) {
	return b.front.add(ctx, Order{Request: r, More: more})
}

// Close lets the Front refuse what comes, with ErrClosed. What is open still is.
func (b *Back) Close() { b.front.closed.Store(true) }

// Forget drops results that nobody has read, and wakes who waits for one. It comes after
// Close.
func (b *Back) Forget() { b.front.requests.forget() }

// Cancel ends a request with FinishCancelled and the tokens so far, wherever it
// is, and its other sequences too, also where they go on after its own end; by the id of
// one of those, "ID/1", that one alone. An id that is unknown or ended is harmless.
func (f *Front) Cancel(id string) {
	if r := f.requests.find(id); r != nil {
		r.cancelled.Store(true)
	}
	f.place.Cancel(id)
}
