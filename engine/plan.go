package engine

import (
	"errors"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
)

// sizes are what an executor is planned with.
type sizes struct {
	tokens, slots int // of a step
	blocks        int // of the pool, at most; 0: any number
	host          int // blocks of the host pool
	sets          int // of weights
}

// best are the tokens of a step on a kind of device.
type best struct {
	tokens int // where memory does for them: more gain nothing and make the others wait
	least  int // where a smaller cache is the lesser evil: fewer read the weights for too few
	slots  int // sequences at most
	from   string
}

// sizeBatch decides the tokens and requests of a step. The tokens are the most up
// to the best beside which the cache holds a request of full length; below
// the least, a smaller cache is the lesser evil while there is any.
func (r *Resolved) sizeBatch(best *best) error {
	c := &r.Config
	asked := r.requests()
	try := func(tokens int) (fits bool, err error) {
		r.sizes.tokens, r.sizes.slots = tokens, min(asked, tokens, best.slots)
		err = r.plan()
		return err == nil && (r.pool.Bound != executor.ByMaxMemory || actors.CacheTokens(r.pool.Cache(), tokens) >= c.MaxContext), err
	}
	if c.MaxBatchTokens > 0 {
		if _, err := try(c.MaxBatchTokens); err != nil {
			return err
		}
	} else {
		r.from["max_batch_tokens"] = best.from
		for c.MaxBatchTokens = best.tokens; ; c.MaxBatchTokens /= 2 {
			fits, err := try(c.MaxBatchTokens)
			if fits || err == nil && c.MaxBatchTokens <= best.least {
				break
			}
			if err != nil && (c.MaxBatchTokens == 1 || !errors.Is(err, ErrMemory)) {
				return err
			}
			r.from["max_batch_tokens"] = "max_memory_percent"
		}
	}
	most, because := c.MaxBatchTokens, "max_batch_tokens"
	if best.slots < most {
		most, because = best.slots, "the executor takes no more"
	}
	r.capRequests(most, because)
	return nil
}

// plan plans an executor of the sizes: what it takes, in Memory, and its pool. Where memory
// is too small, the error is an ErrMemory and says what would have to fit.
func (r *Resolved) plan() error {
	if r.gpu != nil {
		return r.planGPU()
	}
	return r.planCPU()
}
