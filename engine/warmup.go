package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/sampling"
)

// Warmup runs what requests will run, so that the first of them need not wait for
// it: a prompt as large as a step, then decoding by 1, 2, 4, … requests at a time, or by
// as many as the executor has sizes for, up to as many as run. On a CPU that touches the
// weights and what a step works in, and wakes the threads; a GPU captures its graphs. Nothing of a warm-up stays in the
// cache; but where too few blocks are free it takes idle ones, as any request does, so
// that what they held is computed again: it belongs before the traffic. It may run
// beside other requests, whose names and tokens it does not change: it waits in line for
// room, and who comes later waits behind it. progress, if set, is called with the number
// of parts done and of all, on the caller's goroutine.
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
	for n := 1; ; n = min(e.sizeBehind(n), most) {
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

// sizeBehind is the next number of rows that is worth a part.
func (e *Engine) sizeBehind(n int) int {
	i, _ := slices.BinarySearch(e.sizes, n+1)
	if i == len(e.sizes) {
		return 2 * n
	}
	return e.sizes[i]
}

// warmup is a request of n tokens that draws new ones.
func warmup(n, draw int) Request {
	return Request{PromptIDs: make([]int32, n), MaxNewTokens: draw, IgnoreEOS: true, Private: true, Sampling: sampling.Params{Temperature: 1}}
}
