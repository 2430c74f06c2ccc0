package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
)

// Bounds of a request.
const (
	maxSequences = 128
	maxPriority  = actors.MaxPriority
	maxStaleness = 1 << 30
)

// Prefixes of the names of requests without one.
const (
	unnamed = "req-" // FrontOptions.Names of an Engine
	warming = "warm-up-"
)

// AddRequest submits a request and returns its stream. A request that can never
// be served, or not now, is refused at once with a typed error, before anything is
// queued; with Request.Wait it waits for room in a full queue, in line with all others
// who do. The request lives as long as ctx: when that ends, it is cancelled.
func (f *Front) AddRequest(ctx context.Context, r Request) (*Stream, error) {
	return f.add(ctx, Order{Request: r})
}

func (f *Front) add(ctx context.Context, o Order) (*Stream, error) {
	if ctx == nil {
		return nil, ofRequest(o.Request, errNoContext)
	}
	n, err := f.enter(o, f.options.Names)
	if err == nil {
		err = f.admit(ctx, n, o.Wait)
	}
	if err != nil {
		return nil, ofRequest(o.Request, err)
	}
	streams := make([]*Stream, len(n.records))
	for i, rec := range n.records {
		streams[i] = rec.reader()
	}
	streams[0].children = streams[1:]
	return streams[0], nil
}

// ofRequest says which request an error is about, where it has a name.
func ofRequest(r Request, err error) error {
	if r.ID == "" {
		return err
	}
	return fmt.Errorf("request %q: %w", r.ID, err)
}

// errNoContext refuses a nil context, for whose end nobody could wait.
var errNoContext = fmt.Errorf("%w: the context is nil: give context.Background()", ErrParams)

// entry is a request whose ids are taken: what submits it, and the records of its
// sequences.
type entry struct {
	submission Submission
	records    []*record
	handler    func(Chunk)

	reply <-chan error
	gone  <-chan struct{}
}

// enter checks a request, takes the ids of its sequences, and copies it.
func (f *Front) enter(o Order, prefix string) (*entry, error) {
	if err := f.check(&o); err != nil {
		return nil, err
	}
	o.Sampling.Tell = f.tell(&o.Request)
	records := f.records(&o.Request)
	if err := f.requests.enter(records, prefix); err != nil {
		return nil, err
	}
	o.ID, o.Sequences = records[0].id, make([]Sequence, len(records))
	for i, r := range records {
		o.Sequences[i].record = r
	}
	submission, err := f.place.Prepare(&o)
	if err != nil {
		f.requests.withdraw(records, err)
		return nil, err
	}
	return &entry{submission: submission, records: records, handler: o.Handler}, nil
}

// check refuses what need not be copied first.
func (f *Front) check(o *Order) error {
	r := &o.Request
	switch {
	case f.closed.Load():
		return ErrClosed
	case !r.countsRight():
		return fmt.Errorf("%w: n is %d, must be from 1 to %d", ErrParams, r.N, maxSequences)
	case r.Priority < -maxPriority || r.Priority > maxPriority:
		return fmt.Errorf("%w: priority is %d, must be from %d to %d", ErrParams, r.Priority, -maxPriority, maxPriority)
	case r.KV > KVAbort:
		return fmt.Errorf("%w: KV policy %d, must be from %d to %d", ErrParams, r.KV, KVAsUpdate, KVAbort)
	case r.MaxStaleness != nil && (*r.MaxStaleness < 0 || *r.MaxStaleness > maxStaleness):
		return fmt.Errorf("%w: max_staleness is %d, must be from 0 to %d", ErrParams, *r.MaxStaleness, maxStaleness)
	}
	return f.place.Check(o)
}

func (r *Request) countsRight() bool { return r.N >= 0 && r.N <= maxSequences }

// sequences is how many outputs a request has; one whose N is refused has one.
func (r *Request) sequences() int {
	if r.N > 1 && r.countsRight() {
		return r.N
	}
	return 1
}

// records are those of a request's sequences. Their prompt is not the engine's copy:
// the caller gets to see it.
func (f *Front) records(r *Request) []*record {
	prompt, now := slices.Clip(slices.Clone(r.PromptIDs)), time.Now()
	set := make([]*record, r.sequences())
	for i := range set {
		set[i] = &record{id: r.ID, prompt: prompt, tell: r.Sampling.Tell, times: r.Timestamps, streaming: r.Streaming,
			requests: f.requests, versions: f.versions, timing: Timing{Created: now}, cancel: func() {}, unbind: func() bool { return true }}
	}
	return set
}

// tell is what a request is told of its tokens: what it asks for, or what the
// options have for those that ask for nothing.
func (f *Front) tell(r *Request) sampling.Tell {
	if f.options.Logprobs && r.Sampling.Tell == (sampling.Tell{}) {
		return sampling.Tell{Logprobs: true}
	}
	return r.Sampling.Tell
}

// admit submits a request, which may wait for room, and waits for the answer. One that
// is refused is withdrawn.
func (f *Front) admit(ctx context.Context, n *entry, wait bool) error {
	if err := f.submit(ctx, n, wait); err != nil {
		return err
	}
	return f.await(ctx, n)
}

// await waits for the answer to a request that was submitted. One that is refused is withdrawn.
func (f *Front) await(ctx context.Context, n *entry) error {
	select {
	case err := <-n.reply:
		return f.answered(ctx, n, err)
	case <-n.gone:
		return f.unanswered(ctx, n)
	}
}

// submit sends a request to its place and ties it to a context. With an error it is
// withdrawn; else answered or unanswered must follow.
func (f *Front) submit(ctx context.Context, n *entry, wait bool) (err error) {
	if err := ctx.Err(); err != nil {
		f.requests.withdraw(n.records, err)
		return err
	}
	for i, r := range n.records {
		r.cancel = func() { n.submission.Cancel(i) }
		if ctx.Done() != nil {
			r.unbind = context.AfterFunc(ctx, r.cancel)
		}
	}
	room := ctx
	if !wait {
		room = nil
	}
	if n.reply, n.gone, err = n.submission.Submit(room); err != nil {
		return f.answered(ctx, n, err)
	}
	n.cancelAgain(ctx)
	return nil
}

// cancelAgain cancels what was cancelled before its place had it.
func (n *entry) cancelAgain(ctx context.Context) {
	for _, r := range n.records {
		if ctx.Err() != nil || r.cancelled.Load() {
			r.cancel()
		}
	}
}

// answered does what follows from the answer. One that Cancel has ended while it
// waited for room ends as it would later.
func (f *Front) answered(ctx context.Context, n *entry, err error) error {
	cancelled := errors.Is(err, ErrCancelled)
	switch {
	case cancelled && ctx.Err() != nil:
		err = ctx.Err()
	case cancelled:
		err = nil
	}
	if err != nil {
		for _, r := range n.records {
			r.unbind()
		}
		f.requests.withdraw(n.records, err)
		return err
	}
	n.cancelAgain(ctx)
	for _, r := range n.records {
		if cancelled {
			r.End(actors.End{Reason: FinishCancelled})
		}
		if n.handler != nil {
			f.serve(r, n.handler)
		}
	}
	return nil
}

// unanswered is answered for one whose place is gone.
func (f *Front) unanswered(ctx context.Context, n *entry) error {
	select {
	case err := <-n.reply: // both were there: it was accepted and has ended, or refused
		return f.answered(ctx, n, err)
	default:
		return f.answered(ctx, n, n.submission.Lost())
	}
}
