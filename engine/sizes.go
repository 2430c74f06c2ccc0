package engine

import "fmt"

// requests is how many are to run at a time: what is given, else what is hinted.
func (r *Resolved) requests() int {
	c := &r.Config
	if c.MaxRequestsPerBatch > 0 {
		return c.MaxRequestsPerBatch
	}
	n := requestsAtATime
	r.from["max_requests_per_batch"] = "default"
	if h := c.Hints.Requests; h > 0 {
		n = min(h, n)
		r.from["max_requests_per_batch"] = "hints"
	}
	return n
}

// capRequests decides how many run at a time: no more than most.
func (r *Resolved) capRequests(most int, because string) {
	n := r.requests()
	if n > most {
		r.lower("max_requests_per_batch", r.Config.MaxRequestsPerBatch, most, because)
	}
	r.Config.MaxRequestsPerBatch = min(n, most)
}

// lower notes that a field has a lower value than what is given, if anything is.
func (r *Resolved) lower(name string, given, now int, because string) {
	r.from[name] = because
	if where := r.given[name]; where != "" {
		r.from[name] = fmt.Sprintf("%s says %d; %s", where, given, because)
		r.notice("%s is %d, lowered to %d: %s", name, given, now, because)
	}
}

// Bounds of what a queue may have, where nothing is given. A request that waits
// takes two ids of 4 bytes for each token of its context at most, and some for itself.
const (
	queueShare    = 64 // of the memory limit
	requestBytes  = 2048
	idsBytes      = 8
	longestQueue  = 1 << 16
	queueUnknown  = 4096
	queuePerPlace = 2 // at least, for each request that runs
)

// sizeQueue decides how many requests may be open.
func (r *Resolved) sizeQueue() {
	c := &r.Config
	if c.MaxQueueSize > 0 {
		return
	}
	c.MaxQueueSize, r.from["max_queue_size"] = queueUnknown, "the memory is not known"
	if limit := r.Memory.Limit; limit > 0 {
		n := limit / queueShare / (requestBytes + idsBytes*int64(c.MaxContext))
		c.MaxQueueSize, r.from["max_queue_size"] = int(min(n, longestQueue)), fmt.Sprintf("1/%d of the memory limit", queueShare)
	}
	c.MaxQueueSize = max(c.MaxQueueSize, queuePerPlace*c.MaxRequestsPerBatch)
}

// sizeForExecutor takes over the sizes of an executor that is given.
func (r *Resolved) sizeForExecutor() error {
	c, info := &r.Config, r.Config.Executor.Info()
	if err := r.fitContext(info.MaxContext, "the executor"); err != nil {
		return err
	}
	for _, own := range []struct {
		name  string
		value *int
		is    int
	}{{"page_size", &c.PageSize, info.PageSize}, {"num_blocks", &c.NumBlocks, scarcest(info)}} {
		if where := r.given[own.name]; where != "" && *own.value != own.is {
			return fmt.Errorf("%w: %s is %d (%s), the executor's is %d", ErrConfig, own.name, *own.value, where, own.is)
		}
		*own.value, r.from[own.name] = own.is, "the executor's"
	}
	if c.MaxBatchTokens == 0 || c.MaxBatchTokens > info.MaxTokens {
		r.lower("max_batch_tokens", c.MaxBatchTokens, info.MaxTokens, "the executor takes no more")
		c.MaxBatchTokens = info.MaxTokens
	}
	most, because := c.MaxBatchTokens, "max_batch_tokens"
	if info.MaxSlots < most {
		most, because = info.MaxSlots, "the executor takes no more"
	}
	r.capRequests(most, because)
	r.sizeQueue()
	return nil
}
