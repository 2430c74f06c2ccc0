package engine

import (
	"fmt"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// pending are the fields whose machinery does not exist yet, with the value that is
// in force until it does. To wire one: take its line away, and hand its value to
// whom it concerns in sched, limits or load.
var pending = []struct {
	name, now string
}{
	{name: "tensor_parallel_size", now: "1"},
	{name: "ranks", now: "none"},
}

// withdraw puts what is in force for the fields that are pending, and refuses
// values that ask for more.
func (r *Resolved) withdraw() error {
	for _, p := range pending {
		f := fieldNamed(p.name)
		asked := format(f.inForce(&r.Config))
		if asked == p.now {
			continue
		}
		if err := f.set(&r.Config, p.now); err != nil {
			return err
		}
		if where := r.given[p.name]; where != "" {
			return fmt.Errorf("%w: %s is %s (%s): %w, only %s is", ErrConfig, p.name, asked, where, ErrNotAvailable, p.now)
		}
		r.from[p.name] = "nothing else is available yet"
	}
	return nil
}

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
