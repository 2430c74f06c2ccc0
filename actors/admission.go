package actors

import (
	"fmt"
	"math"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// Limits are what intake admits by.
type Limits struct {
	Vocab       int
	MaxContext  int // tokens of a request, prompt and generated
	CacheTokens int // tokens of a request that the whole cache holds, see CacheTokens
	MaxOpen     int // requests open at a time
}

// CacheTokens is how many tokens of one request the cache of an executor can be used
// for when steps compute at most chunk of them: what its groups of full attention
// hold, for one with a window holds no more than that.
func CacheTokens(info executor.Info, chunk int) int {
	return min(cache(info, chunk).Longest(), math.MaxInt32-1)
}

// cache is the geometry of an executor's cache.
func cache(info executor.Info, chunk int) blockmgr.Config {
	c := blockmgr.Config{PageSize: info.PageSize, Chunk: chunk}
	for _, g := range info.Groups {
		c.Blocks, c.Window = append(c.Blocks, g.Blocks), append(c.Window, g.Window)
	}
	return c
}

// maxEOS bounds the ids that end one request: they are looked through for each of
// its tokens.
const maxEOS = 1024

// CheckLength refuses prompts of a length that can never be served.
func (l Limits) CheckLength(n int) error {
	switch {
	case n == 0:
		return fmt.Errorf("%w: give at least one token", ErrEmptyPrompt)
	case n >= l.MaxContext:
		return fmt.Errorf("%w: %d tokens, at most %d leave room for one to generate: shorten the prompt", ErrTooLong, n, l.MaxContext-1)
	case n > l.CacheTokens:
		return fmt.Errorf("%w: %d tokens, the cache holds %d: shorten the prompt or give the engine more blocks", ErrNeverFits, n, l.CacheTokens)
	}
	return nil
}

// admit checks a request against the limits and turns it into the scheduler's
// form, its limit on new tokens cut to what context and cache can hold. The last
// token is never written to the cache, so one more than CacheTokens can exist.
func (l Limits) admit(r *Submit, key sched.Key) (*sched.Submit, error) {
	n := len(r.IDs)
	if err := l.CheckLength(n); err != nil {
		return nil, err
	}
	switch {
	case r.MaxNew < 0:
		return nil, fmt.Errorf("%w: max_new_tokens is %d, must be 0 or more", ErrParams, r.MaxNew)
	case len(r.EOS) > maxEOS:
		return nil, fmt.Errorf("%w: %d ids end it, at most %d may", ErrParams, len(r.EOS), maxEOS)
	}
	for i, id := range r.IDs {
		if id < 0 || int(id) >= l.Vocab {
			return nil, fmt.Errorf("%w: id %d at position %d, the vocabulary has %d", ErrVocab, id, i, l.Vocab)
		}
	}
	if err := r.Sampling.CheckVocab(l.Vocab); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParams, err)
	}
	room := min(l.MaxContext, l.CacheTokens+1) - n
	maxNew := r.MaxNew
	if maxNew == 0 || maxNew > room {
		maxNew = room
	}
	return &sched.Submit{Key: key, N: int32(1 + len(r.Children)), Priority: r.Priority, IDs: r.IDs, MaxNew: int32(maxNew), EOS: r.EOS, Sampling: r.Sampling, Seed: r.Seed}, nil
}
