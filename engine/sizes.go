package engine

import (
	"fmt"
	"strconv"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
)

// requestsAtATime is how many run where no hint says otherwise.
const requestsAtATime = 1024

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
		r.notice("%s is %d (%s), lowered to %d: %s", name, given, where, now, because)
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
		c.MaxQueueSize, r.from["max_queue_size"] = int(n), fmt.Sprintf("as many as 1/%d of the memory limit holds", queueShare)
		if n > longestQueue {
			c.MaxQueueSize, r.from["max_queue_size"] = longestQueue, "the most without being asked for more"
		}
	}
	if least := queuePerPlace * c.MaxRequestsPerBatch; c.MaxQueueSize < least {
		c.MaxQueueSize, r.from["max_queue_size"] = least, fmt.Sprintf("%d for each of max_requests_per_batch", queuePerPlace)
	}
}

// hasCache tells whether every group of an executor can have a block.
func hasCache(info executor.Info) bool {
	for _, g := range info.Groups {
		if g.Blocks < 1 || info.Sectors != 0 && (g.PerSector < 1 || g.Blocks/g.PerSector != info.Sectors || g.Blocks%g.PerSector != 0) {
			return false
		}
	}
	return len(info.Groups) > 0 && (info.Sectors == 0 || info.Sectors >= len(info.Groups))
}

// sizeForExecutor takes over the sizes of an executor that is given. One that
// nothing can run on is refused, and so are settings that it would not see.
func (r *Resolved) sizeForExecutor() error {
	c, info := &r.Config, r.Config.Executor.Info()
	if info.PageSize < 1 || !hasCache(info) || info.MaxSlots < 1 || info.MaxTokens < 1 || info.MaxContext < 2 || info.Vocab < 1 || info.MaxOutstanding < 1 {
		return fmt.Errorf("%w: the executor has no room: %+v", ErrConfig, info)
	}
	for i := range fields {
		f := &fields[i]
		if where := r.given[f.Name]; where != "" && (f.Name == "device" || f.Acts == OwnExecutor || f.Acts == OnCPU || f.Acts == WithAdapters || f.Acts == WithIntegers || f.Name == "page_size" || f.Name == "num_blocks" || f.Name == "cpu_offload_space") {
			return fmt.Errorf("%w: %s (%s) is the executor's own when one is given: leave it out", ErrConfig, f.Name, where)
		}
	}
	if err := r.fitContext(info.MaxContext, "the executor"); err != nil {
		return err
	}
	c.PageSize, r.from["page_size"] = info.PageSize, "the executor's"
	c.MaxAdapters, r.from["max_adapters"] = info.MaxAdapters, "the executor's"
	c.MaxAdapterRank, r.from["max_adapter_rank"] = info.MaxAdapterRank, "the executor's"
	c.NumBlocks, r.from["num_blocks"] = info.CacheBlocks(), "the executor's"
	if n := len(info.Groups); n > 1 {
		r.from["num_blocks"] += forKinds(n)
	}
	if n := scarcestHost(info); n > 0 {
		r.from["cpu_offload_space"] = fmt.Sprintf("the executor's own are %d blocks", n)
	}
	c.Attention = ""
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
	r.noticeContext(actors.CacheTokens(info, c.MaxBatchTokens))
	return r.overlap(info.MaxOutstanding)
}

// overlap decides whether a step is planned while the one before runs, on an
// executor that takes so many.
func (r *Resolved) overlap(steps int) error {
	c := &r.Config
	able := steps > 1
	switch {
	case c.UseAsyncBatching == nil:
		c.UseAsyncBatching, r.from["use_async_batching"] = &able, "the executor takes "+strconv.Itoa(steps)+" at a time"
	case *c.UseAsyncBatching && !able:
		return fmt.Errorf("%w: use_async_batching is true (%s), the executor takes one step at a time", ErrConfig, r.given["use_async_batching"])
	}
	return nil
}
