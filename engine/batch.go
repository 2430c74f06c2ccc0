package engine

import (
	"context"
	"errors"
	"time"

	"github.com/cbactor/cbactor/actors"
)

// BatchOptions tune GenerateBatch.
type BatchOptions struct {
	// Progress, if set, is called as requests end, on the caller's goroutine.
	Progress func(Progress)
}

// Progress is how far a batch is.
type Progress struct {
	Done, Total int // requests
	Tokens      int // generated in the ended ones
}

// queueRetry is how long GenerateBatch waits before it tries again to get into a
// queue that is full of other callers' requests.
const queueRetry = 5 * time.Millisecond

// GenerateBatch runs requests together and returns their outputs in the order
// given, for a request with N above 1 one after the other, of an N that is refused
// the first alone; nothing is started for none. It waits where the engine's queue is full. A request that is refused or
// fails has its error in its own Output; the others go on. When ctx ends, all are
// cancelled and returned with what they have, and its error; when the engine is
// closed or crashes, likewise. Equal ids are refused while the first is open.
func (e *Engine) GenerateBatch(ctx context.Context, requests []Request, o BatchOptions) ([]Output, error) {
	at := make([]int, len(requests)) // where a request's outputs begin
	p := Progress{}
	for i, r := range requests {
		at[i] = p.Total
		p.Total += r.sequences()
	}
	outs := make([]Output, p.Total)
	ended := make(chan int, p.Total) // room for all: nobody waits to report
	var retry <-chan time.Time
	next := 0
	for p.Done < p.Total {
		for next < len(requests) {
			s, err := e.AddRequest(ctx, requests[next])
			if errors.Is(err, ErrQueueFull) {
				retry = time.After(queueRetry) // or sooner, when one of ours ends
				break
			}
			first, n := at[next], requests[next].sequences()
			for i := range n {
				if err != nil {
					outs[first+i] = Refused(requests[next], err)
					if id := requests[next].ID; id != "" {
						outs[first+i].RequestID = actors.ChildID(id, i)
					}
					ended <- first + i
					continue
				}
				stream := s
				if i > 0 {
					stream = s.children[i-1]
				}
				go func() {
					outs[first+i] = stream.Wait(ctx)
					ended <- first + i
				}()
			}
			next++
		}
		select {
		case i := <-ended:
			p.Done++
			p.Tokens += len(outs[i].TokenIDs)
			if o.Progress != nil {
				o.Progress(p)
			}
		case <-retry:
		}
	}
	return outs, e.whole(ctx, outs)
}

// whole is nil when every output is what became of its request alone: neither ctx
// nor the engine ended before.
func (e *Engine) whole(ctx context.Context, outs []Output) error {
	for _, out := range outs {
		switch {
		case out.FinishReason == FinishCancelled && ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(out.Err, ErrClosed), errors.Is(out.Err, ErrStopped), errors.Is(out.Err, ErrCrashed):
			return out.Err
		}
	}
	return nil
}

// Refused is the output of a request that was never accepted, because of err: that
// of a context means that it was cancelled.
func Refused(r Request, err error) Output {
	out := Output{RequestID: r.ID, PromptIDs: r.PromptIDs, FinishReason: FinishFailed, Err: err, Usage: Usage{PromptTokens: len(r.PromptIDs)}}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		out.FinishReason, out.Err = FinishCancelled, nil
	}
	return out
}
