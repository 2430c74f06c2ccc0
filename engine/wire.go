package engine

import (
	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// sched is what the scheduler needs.
func (r *Resolved) sched(info executor.Info) sched.Config {
	c := &r.Config
	depth := 1
	if *c.UseAsyncBatching {
		depth = 2
	}
	return sched.Config{Policy: sched.Policies[c.SchedulerType], MaxTokens: c.MaxBatchTokens, MaxReads: c.MaxBatchReads, MaxSlots: c.MaxRequestsPerBatch, PageSize: c.PageSize,
		Blocks: info.CacheBlocks(), Host: scarcestHost(info), CopyCost: info.CopyCost, Overlap: info.Overlap, Depth: depth, Margin: *c.SafetyMargin, Sharing: *c.AllowBlockSharing}
}

// limits are what requests are admitted by.
func (r *Resolved) limits(info executor.Info) actors.Limits {
	c := &r.Config
	return actors.Limits{Vocab: info.Vocab, MaxContext: c.MaxContext, CacheTokens: actors.CacheTokens(info, c.MaxBatchTokens), MaxOpen: c.MaxQueueSize}
}

// scarcestHost is the number of blocks of the smallest host pool.
func scarcestHost(info executor.Info) int {
	n := info.Groups[0].Host
	for _, g := range info.Groups[1:] {
		n = min(n, g.Host)
	}
	return n
}
