package engine

import (
	"context"
	"errors"
	"strconv"
	"time"
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
// given, for a request with N above 1 one after the other; nothing is started for
// none. It waits where the engine's queue is full. A request that is refused or
// fails has its error in its own Output; the others go on. When ctx ends, all are
// cancelled and returned with what they have, and its error.
func (e *Engine) GenerateBatch(ctx context.Context, requests []Request, o BatchOptions) ([]Output, error) {
	at := make([]int, len(requests)) // where a request's outputs begin
	p := Progress{}
	for i, r := range requests {
		at[i] = p.Total
		p.Total += max(1, r.N)
	}
	outs := make([]Output, p.Total)
	ended := make(chan int, p.Total) // room for all: nobody waits to report
	next, open := 0, 0
	for p.Done < p.Total {
		for next < len(requests) {
			s, err := e.addPatiently(ctx, requests[next], open == 0)
			if errors.Is(err, ErrQueueFull) { // one of ours will make room
				break
			}
			first, n := at[next], max(1, requests[next].N)
			open += n
			for i := range n {
				if err != nil {
					outs[first+i] = refused(requests[next], i, err)
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
		i := <-ended
		open--
		p.Done++
		p.Tokens += len(outs[i].TokenIDs)
		if o.Progress != nil {
			o.Progress(p)
		}
	}
	return outs, ctx.Err()
}

// addPatiently is AddRequest that, if asked to, waits out a full queue.
func (e *Engine) addPatiently(ctx context.Context, r Request, wait bool) (*Stream, error) {
	for {
		s, err := e.AddRequest(ctx, r)
		if !wait || !errors.Is(err, ErrQueueFull) {
			return s, err
		}
		select {
		case <-time.After(queueRetry):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// refused is the output of sequence n of a request that was never accepted.
func refused(r Request, n int, err error) Output {
	id := r.ID
	if id != "" && n > 0 {
		id += "/" + strconv.Itoa(n)
	}
	out := Output{RequestID: id, PromptIDs: r.PromptIDs, FinishReason: FinishFailed, Err: err, Usage: Usage{PromptTokens: len(r.PromptIDs)}}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		out.FinishReason, out.Err = FinishCancelled, nil
	}
	return out
}
