package engine

import (
	"context"
	"errors"

	"github.com/cbactor/cbactor/actors"
)

// BatchOptions tune GenerateBatch.
type BatchOptions struct {
	// Progress, if set, is called as requests end, on the caller's goroutine.
	Progress func(Progress)

	Timestamps bool // keep the moment of each token, of every request
}

// Progress is how far a batch is.
type Progress struct {
	Done, Total int // requests
	Tokens      int // generated in the ended ones
}

// GenerateBatch spawns an engine for requests, runs them and closes it. Where cfg has
// no Hints, they are those of the requests. For none, nothing is started.
func GenerateBatch(ctx context.Context, cfg Config, requests []Request, o BatchOptions) (outs []Output, err error) {
	if len(requests) == 0 {
		return nil, nil
	}
	e, err := Spawn(ctx, hinted(cfg, requests))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return e.GenerateBatch(ctx, requests, o)
}

// hinted is a configuration for requests.
func hinted(cfg Config, requests []Request) Config {
	if cfg.Hints == (Hints{}) {
		cfg.Hints = HintsOf(requests)
	}
	return cfg
}

// GenerateBatch runs requests together and returns their outputs in the order
// given, for a request with N above 1 one after the other, of an N that is refused
// the first alone; nothing is started for none. It waits where the engine's queue is
// full. A request that is refused or fails has its error in its own Output; the
// others go on. When ctx ends, all are cancelled and returned with what they have,
// and its error; when the engine is stopped hard, is closed or crashes, likewise.
// Equal ids are refused while the first is open.
func (f *Front) GenerateBatch(ctx context.Context, requests []Request, o BatchOptions) ([]Output, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	return f.run(ctx, requests, o, f.options.Names)
}

// run is GenerateBatch with names of that prefix for those without one.
func (f *Front) run(ctx context.Context, requests []Request, o BatchOptions, prefix string) ([]Output, error) {
	b := batch{front: f, requests: requests, options: o, prefix: prefix, at: make([]int, len(requests))}
	for i := range requests {
		b.at[i] = b.progress.Total
		b.progress.Total += requests[i].sequences()
	}
	b.outs = make([]Output, b.progress.Total)
	b.ended = make(chan end, b.progress.Total)
	for b.progress.Done < b.progress.Total || b.reply != nil {
		b.begin(ctx)
		select {
		case end := <-b.ended:
			b.take(end)
		case err := <-b.reply:
			b.began(f.answered(ctx, b.entry, err))
		case <-b.gone:
			b.began(f.unanswered(ctx, b.entry))
		}
	}
	return b.outs, b.whole(ctx)
}

// batch is a GenerateBatch under way.
type batch struct {
	front    *Front
	requests []Request
	options  BatchOptions
	prefix   string
	next     int             // the first request that is not submitted
	entry    *entry          // the one before, as long as
	reply    <-chan error    // its place has not answered it; nil: it has
	gone     <-chan struct{} // or never will
	at       []int           // where a request's outputs begin
	outs     []Output
	ended    chan end // room for all: nobody waits to report
	progress Progress
}

// end is an output that is there.
type end struct {
	at     int
	record *record // nil: the request was refused, and its output stands in its place
}

// begin submits the next request, if the one before is answered.
func (b *batch) begin(ctx context.Context) {
	for b.reply == nil && b.next < len(b.requests) {
		r := b.requests[b.next]
		r.Timestamps = r.Timestamps || b.options.Timestamps
		b.next++
		n, err := b.front.enter(Order{Request: r}, b.prefix)
		if err == nil {
			for i, rec := range n.records {
				at := b.at[b.next-1] + i
				rec.onEnd = func() { b.ended <- end{at, rec} }
			}
			err = b.front.submit(ctx, n, true)
		}
		if err != nil {
			b.refuse(err)
			continue
		}
		b.entry, b.reply, b.gone = n, n.reply, n.gone
	}
}

// began takes note of how the last request that was submitted has fared.
func (b *batch) began(err error) {
	b.entry, b.reply, b.gone = nil, nil, nil
	if err != nil {
		b.refuse(err)
	}
}

// refuse writes the outputs of the last request that was submitted, or should have
// been, which was not accepted.
func (b *batch) refuse(err error) {
	r := b.requests[b.next-1]
	for i := range r.sequences() {
		at := b.at[b.next-1] + i
		b.outs[at] = Refused(r, err)
		if r.ID != "" {
			b.outs[at].RequestID = actors.ChildID(r.ID, i)
		}
		b.ended <- end{at: at}
	}
}

func (b *batch) take(e end) {
	if e.record != nil {
		b.outs[e.at] = e.record.output()
	}
	b.progress.Done++
	b.progress.Tokens += len(b.outs[e.at].TokenIDs)
	if b.options.Progress != nil {
		b.options.Progress(b.progress)
	}
}

// whole is nil when every output is what became of its request alone: neither ctx
// nor the engine ended before.
func (b *batch) whole(ctx context.Context) error {
	for _, out := range b.outs {
		switch {
		case out.FinishReason == FinishCancelled && ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(out.Err, ErrUnavailable), errors.Is(out.Err, ErrStopped), errors.Is(out.Err, ErrCrashed), errors.Is(out.Err, ErrStuck):
			return out.Err
		}
	}
	return nil
}

// Refused is the output of a request that was never accepted, because of err: that
// of a context means that it was cancelled.
func Refused(r Request, err error) Output {
	reason, err := refusal(err)
	return Output{RequestID: r.ID, PromptIDs: r.PromptIDs, FinishReason: reason, Err: err, Usage: Usage{PromptTokens: len(r.PromptIDs)}}
}
