package actors

import (
	"fmt"
	"math"
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
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
	c := blockmgr.Config{PageSize: info.PageSize, Chunk: chunk, Sectors: info.Sectors}
	for _, g := range info.Groups {
		c.Blocks, c.PerSector, c.Window = append(c.Blocks, g.Blocks), append(c.PerSector, g.PerSector), append(c.Window, g.Window)
	}
	return c
}

// maxEOS bounds the ids that end one request: they are looked through for each of
// its tokens. MaxPriority bounds its priority on both sides of 0.
const (
	maxEOS      = 1024
	MaxPriority = 100
)

// CheckLength refuses prompts of a length that can never be served. One that is only
// scored needs no room for a token behind it.
func (l Limits) CheckLength(n int, score bool) error {
	longest := l.MaxContext
	if !score {
		longest--
	}
	switch {
	case n == 0:
		return fmt.Errorf("%w: give at least one token", ErrEmptyPrompt)
	case n > longest && score:
		return fmt.Errorf("%w: %d tokens, at most %d fit: shorten the prompt", ErrTooLong, n, longest)
	case n > longest:
		return fmt.Errorf("%w: %d tokens, at most %d leave room for one to generate: shorten the prompt", ErrTooLong, n, longest)
	case n > l.CacheTokens:
		return fmt.Errorf("%w: %d tokens, the cache holds %d: shorten the prompt or give the engine more blocks", ErrNeverFits, n, l.CacheTokens)
	}
	return nil
}

// admit checks a request against the limits and turns it into the scheduler's
// form, but for its key, its limit on new tokens cut to what context and cache can
// hold. The last token is never written to the cache, so one more than CacheTokens can
// exist.
func (l Limits) admit(r *Submit) (*sched.Submit, error) {
	n := len(r.IDs)
	if err := l.CheckLength(n, r.Score); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if n := r.sequences(); n > l.MaxOpen {
		return nil, fmt.Errorf("%w: %d sequences are more than the queue of %d takes", ErrParams, n, l.MaxOpen)
	}
	maxNew := r.MaxNew
	if room := min(l.MaxContext, l.CacheTokens+1) - n; !r.Score && (maxNew == 0 || maxNew > room) {
		maxNew = room
	}
	params, eos := r.Params()
	if len(eos) > maxEOS {
		return nil, fmt.Errorf("%w: eos and ends have %d ids, at most %d may end a request", ErrParams, len(eos), maxEOS)
	}
	if int(params.MinNew) > maxNew {
		return nil, fmt.Errorf("%w: min_new_tokens is %d, and at most %d can be generated", ErrParams, params.MinNew, maxNew)
	}
	if err := l.checkIDs(r); err != nil {
		return nil, err
	}
	if err := params.CheckVocab(l.Vocab); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParams, err)
	}
	return &sched.Submit{N: int32(r.sequences()), Priority: r.Priority, IDs: r.IDs, MaxNew: int32(maxNew), Private: r.Private, Adapter: r.Adapter, Salt: r.Salt,
		EOS: eos, Sampling: params, Seed: r.Seed, KV: r.KV, Version: r.Version, Commits: r.Commits}, nil
}

// check refuses fields out of their range, and those that do not go together.
func (r *Submit) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrParams}, args...)...)
	}
	switch {
	case r.MaxNew < 0:
		return bad("max_new_tokens is %d, must be 0 or more", r.MaxNew)
	case r.Priority < -MaxPriority || r.Priority > MaxPriority:
		return bad("priority is %d, must be from %d to %d", r.Priority, -MaxPriority, MaxPriority)
	case r.Deadline < 0:
		return bad("deadline is %v, must be 0 (none) or more", r.Deadline)
	case r.FirstToken < 0:
		return bad("first_token is %v, must be 0 (none) or more", r.FirstToken)
	case len(r.Sampling.Ends) > maxEOS:
		return bad("ends has %d ids, at most %d may end a request", len(r.Sampling.Ends), maxEOS)
	case len(r.EOS) > maxEOS:
		return bad("eos has %d ids, at most %d may end a request", len(r.EOS), maxEOS)
	case !r.Score:
		return nil
	case r.MaxNew > 0:
		return bad("max_new_tokens is %d, must be 0 with score, which draws nothing", r.MaxNew)
	case len(r.Children) > 0:
		return bad("n is %d, must be 1 with score, which draws nothing", 1+len(r.Children))
	case r.FirstToken > 0:
		return bad("first_token is %v, must be 0 with score, which draws nothing: use deadline", r.FirstToken)
	}
	return nil
}

// Params are the sampling parameters, and the ids that end the request: its EOS and its
// Ends. With MinNew the parameters have all of them.
func (r *Submit) Params() (p sampling.Params, eos []int32) {
	p, eos = r.Sampling, r.EOS
	if len(p.Ends) > 0 {
		eos = slices.Clone(eos)
		for _, id := range p.Ends {
			if !slices.Contains(eos, id) {
				eos = append(eos, id)
			}
		}
	}
	if p.MinNew > 0 {
		p.Ends = slices.DeleteFunc(slices.Clone(eos), func(id int32) bool { return id < 0 })
	}
	return p, eos
}

// checkIDs refuses ids that the vocabulary does not have. A negative one among those
// that end a request is harmless: it is the custom for "none".
func (l Limits) checkIDs(r *Submit) error {
	for i, id := range r.IDs {
		if id < 0 || int(id) >= l.Vocab {
			return fmt.Errorf("%w: id %d at position %d, the vocabulary has %d", ErrVocab, id, i, l.Vocab)
		}
	}
	for _, id := range r.EOS {
		if int(id) >= l.Vocab {
			return fmt.Errorf("%w: id %d in eos, the vocabulary has %d", ErrVocab, id, l.Vocab)
		}
	}
	return nil
}
