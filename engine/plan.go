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

// pool is the cache of a plan.
type pool struct {
	executor.Info        // PageSize, Groups and Sectors
	blocks        int    // as many as every group can have at the same time
	blockBytes    int64  // of all layers
	because       string // what keeps it from having more; "": what is given
	byMemory      bool   // max_memory_percent keeps it
}

// best are the tokens of a step on a kind of device.
type best struct {
	tokens int // where memory does for them: more gain nothing and make the others wait
	least  int // where a smaller cache is the lesser evil: fewer read the weights for too few
	from   string
}

// sizeBatch decides the tokens and requests of a step. The tokens are the most up
// to the best beside which the cache holds a request of full length; below
// the least, a smaller cache is the lesser evil while there is any.
func (r *Resolved) sizeBatch(best best) error {
	c := &r.Config
	asked := r.requests()
	try := func(tokens int) (fits bool, err error) {
		r.sizes.tokens, r.sizes.slots = tokens, min(asked, tokens)
		err = r.plan()
		return err == nil && (!r.pool.byMemory || actors.CacheTokens(r.pool.Info, tokens) >= c.MaxContext), err
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
	r.capRequests(c.MaxBatchTokens, "max_batch_tokens")
	return nil
}

// plan plans an executor of the sizes: what it takes, in Memory, and its pool. Where memory
// is too small, the error is an ErrMemory and says what would have to fit.
func (r *Resolved) plan() error { return r.planCPU() }
