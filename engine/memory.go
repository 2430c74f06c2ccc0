package engine

import (
	"fmt"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/weights"
)

// Memory is the plan of what an engine takes, in bytes: of the host's memory, but for Device.
type Memory struct {
	Limit    int64 // what the process may use: of its control group, else of the computer; 0: not known
	Resident int64 // in use before the engine came
	Usable   int64 // for the engine: max_memory_percent of Limit - Resident; 0: not known

	WeightSet int64          // the weights as they are stored
	NextSet   int64          // others as they are stored, that are made ready beside them or kept, and what waits to be cast; 0: only under a pause
	Executor  cpuexec.Memory // what the CPU executor takes: packed weights, cache, host pool and work; on a GPU nothing

	Device DeviceMemory // of the GPU that computes; on a CPU zero
}

// DeviceMemory is the plan of what an engine takes of a GPU, in bytes.
type DeviceMemory struct {
	Memory int64 // of the device
	Free   int64 // of it, before the engine came
	Usable int64 // for the engine: max_memory_percent of Free

	Executor gpuexec.Memory // what the executor takes there; its Host and Pinned are the host's
}

// Total is the sum of what is the host's.
func (m Memory) Total() int64 { return m.WeightSet + m.NextSet + m.ofExecutor() }

// ofExecutor is what the executor takes of the host.
func (m Memory) ofExecutor() int64 {
	return m.Executor.Total() + m.Device.Executor.Host + m.Device.Executor.Pinned
}

// memory is what there is, in bytes.
type memory struct {
	limit    int64 // see Memory
	resident int64
}

// sizeFromMemory decides all sizes from the model and the memory.
func (r *Resolved) sizeFromMemory(has memory) error {
	c := &r.Config
	if err := r.fitContext(c.Checkpoint.Config.MaxPosition, "the model"); err != nil {
		return err
	}
	set, err := weights.Size(c.Checkpoint.Config, c.Checkpoint)
	if err != nil {
		return err
	}
	m := &r.Memory
	m.WeightSet, m.Limit, m.Resident = int64(set), has.limit, has.resident
	m.Usable = int64(c.MaxMemoryPercent * float64(max(0, m.Limit-m.Resident)))
	if c.WeightSets == 2 {
		m.NextSet = r.nextSet()
	}
	r.sizes = sizes{blocks: c.NumBlocks, sets: max(1, c.WeightSets)}
	best, steps := &bestOnCPU, cpuexec.MaxOutstanding
	if r.gpu == nil {
		r.cpu = r.cpuConfig()
	} else {
		best, steps = &bestOnGPU, gpuexec.MaxOutstanding
		if r.gpuPlan, err = r.gpuConfig(); err != nil {
			return err
		}
	}
	if err := r.sizeBatch(best); err != nil {
		return err
	}
	r.sizePool()
	r.sizeQueue()
	if err := r.sizeOffload(); err != nil {
		return err
	}
	if err := r.sizeSets(); err != nil {
		return err
	}
	return r.overlap(steps)
}

// sizeSets decides how many weight sets there are where it is not said: another one
// gets only what all else leaves.
func (r *Resolved) sizeSets() error {
	c, m := &r.Config, &r.Memory
	if c.WeightSets > 0 {
		return nil
	}
	blocks := r.pool.Blocks
	r.sizes.sets, m.NextSet = 2, r.nextSet()
	if err := r.plan(); err == nil && r.pool.Blocks == blocks && (m.Limit == 0 || m.Total() <= m.Usable) {
		c.WeightSets, r.from["weight_sets"] = 2, "memory holds another set"
		return nil
	}
	r.sizes.sets, m.NextSet = 1, 0
	c.WeightSets, r.from["weight_sets"] = 1, "memory holds no other set"
	return r.plan()
}

// fitContext decides how long a request may be.
func (r *Resolved) fitContext(longest int, whose string) error {
	c := &r.Config
	if c.MaxContext == 0 {
		c.MaxContext, r.from["max_context"] = longest, whose+"'s context"
	}
	if c.MaxContext > longest {
		return fmt.Errorf("%w: max_context is %d (%s), %s has %d", ErrConfig, c.MaxContext, r.given["max_context"], whose, longest)
	}
	return nil
}

// noticeContext notes how many tokens of a request the cache holds, and says when none of
// the longest context fits. The last token of a request is never written to it.
func (r *Resolved) noticeContext(holds int) {
	r.cacheTokens = holds
	if c := &r.Config; c.MaxContext-1 > holds {
		r.notice("max_context is %d (%s), the cache holds %d tokens of a request: longer ones end there or are refused", c.MaxContext, r.from["max_context"], holds)
	}
}

// sizePool takes the plan for the pool over.
func (r *Resolved) sizePool() {
	c, p := &r.Config, &r.pool
	because := map[executor.Bound]string{
		executor.ByUse:       use(c.MaxRequestsPerBatch, c.MaxContext),
		executor.ByQuarter:   "a quarter of the memory limit, which is fixed",
		executor.ByMaxMemory: "max_memory_percent",
	}[p.Bound]
	if because != "" {
		r.lower("num_blocks", c.NumBlocks, p.Blocks, because)
	}
	c.NumBlocks, r.sizes.blocks = p.Blocks, p.Blocks
	if n := len(p.Cache().Groups); n > 1 {
		r.from["num_blocks"] += forKinds(n)
	}
	r.noticeContext(actors.CacheTokens(p.Cache(), c.MaxBatchTokens))
}

// forKinds is told of a number of blocks where there are so many cache groups.
func forKinds(n int) string {
	return fmt.Sprintf(", for each of %d kinds of attention at the same time", n)
}

// use says whose use bounds the pool.
func use(requests, tokens int) string {
	if requests == 1 {
		return fmt.Sprintf("1 request of %d tokens uses no more", tokens)
	}
	return fmt.Sprintf("%d requests of %d tokens use no more", requests, tokens)
}
