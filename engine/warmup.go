package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/cbactor/cbactor/sampling"
)

// Warmup runs what requests will run, so that the first of them need not wait for
// it: a prompt as large as a step, then decoding by 1, 2, 4, … requests at a time, up
// to as many as run. On a CPU that touches the weights and what a step works in, and
// wakes the threads; a GPU captures its graphs. The cache is afterwards as it was:
// nothing of a warm-up is shared. It may run beside other requests, whose names and
// tokens it does not change. progress, if set, is called with the number of parts
// done and of all, on the caller's goroutine.
func (e *Engine) Warmup(ctx context.Context, progress func(done, total int)) error {
	parts := e.warmups()
	for i, requests := range parts {
		if progress != nil {
			progress(i, len(parts))
		}
		outs, err := e.run(ctx, requests, BatchOptions{}, warming)
		for _, out := range outs {
			err = cmp.Or(err, out.Err)
		}
		if err != nil {
			return fmt.Errorf("warm-up %d of %d: %w", i+1, len(parts), err)
		}
	}
	if progress != nil {
		progress(len(parts), len(parts))
	}
	return nil
}

// warmups are the requests of each part.
func (e *Engine) warmups() [][]Request {
	limits, info := e.options.Limits, &e.info
	longest := min(info.BatchTokens, limits.MaxContext-1, limits.CacheTokens)
	parts := [][]Request{{warmup(longest, 1)}}
	most := min(info.BatchRows, info.QueueSize, info.Blocks)
	for n := 1; ; n = min(2*n, most) {
		var part []Request
		for left := n; left > 0; left -= maxSequences { // forked, so that they decode together
			r := warmup(1, min(2, limits.MaxContext-1, limits.CacheTokens))
			r.N = min(left, maxSequences)
			part = append(part, r)
		}
		parts = append(parts, part)
		if n == most {
			return parts
		}
	}
}

// warmup is a request of n tokens that draws new ones.
func warmup(n, draw int) Request {
	return Request{PromptIDs: make([]int32, n), MaxNewTokens: draw, IgnoreEOS: true, Private: true, Sampling: sampling.Params{Temperature: 1}}
}
