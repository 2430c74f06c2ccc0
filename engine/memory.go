package engine

import (
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// Memory is the plan of what an engine with the CPU executor takes, in bytes.
type Memory struct {
	Limit    int64 // what the process may use: of its control group, else of the computer; 0: not known
	Resident int64 // in use before the engine came
	Usable   int64 // for the engine: max_memory_percent of Limit - Resident; 0: not known

	WeightSet int64          // the weights as they are stored
	NextSet   int64          // others as they are stored, that are made ready beside them or kept, and what waits to be cast; 0: only under a pause
	Executor  cpuexec.Memory // what the executor takes: packed weights, cache, host pool and work
}

// Total is the sum.
func (m Memory) Total() int64 { return m.WeightSet + m.NextSet + m.Executor.Total() }

// Steps of the CPU executor, in tokens: bigger ones gain nothing and make the
// others wait, smaller ones read the weights for too few tokens.
const (
	bestBatchTokens = 512
	leastForSpeed   = 256
)

// requestsAtATime is how many run where no hint says otherwise.
const requestsAtATime = 1024

// memory is what there is, in bytes.
type memory struct {
	limit    int64 // see Memory
	resident int64
}

// sizeForCPU decides all sizes from the model and the memory.
func (r *Resolved) sizeForCPU(has memory) error {
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
	if c.Threads == 0 {
		c.Threads, r.from["threads"] = cpuexec.CPUs(), "one for each CPU"
	}
	if c.WeightSets == 2 {
		m.NextSet = r.nextSet()
	}
	r.cpu = cpuexec.Config{WeightSets: max(1, c.WeightSets), Model: c.Checkpoint.Config, Threads: c.Threads, PageSize: c.PageSize, NumBlocks: c.NumBlocks,
		MaxContext: c.MaxContext, MaxAdapters: c.MaxAdapters, MaxAdapterRank: c.MaxAdapterRank, MemoryLimit: m.Limit, InUse: m.Resident + m.WeightSet + m.NextSet, Pin: c.Pin, Attention: cpuexec.Attention(c.Attention),
		Compute: cpuexec.Compute(c.Compute), Stored: c.Checkpoint.Tensors(), KVType: cpuexec.KVType(c.KVDType),
		Tune: cpuexec.Tune{Decode: c.DecodeCompileConfig.effort(), Varlen: c.VarlenCompileConfig.effort()}}
	if r.int8() {
		r.cpu.Quantize = cpuexec.Quantize(c.Quantize)
	}
	if m.Limit > 0 {
		r.cpu.MaxMemory = max(1, m.Usable-m.WeightSet-m.NextSet) // 0 is no bound
	}
	if err := r.sizeBatch(); err != nil {
		return err
	}
	r.sizePool()
	r.sizeQueue()
	if err := r.sizeOffload(); err != nil {
		return err
	}
	r.sizeSets()
	return r.overlap(cpuexec.MaxOutstanding)
}

// sizeSets decides how many weight sets there are where it is not said: another one
// gets only what all else leaves.
func (r *Resolved) sizeSets() {
	c, m := &r.Config, &r.Memory
	if c.WeightSets > 0 {
		return
	}
	c.WeightSets, r.from["weight_sets"] = 1, "memory holds no other set"
	if next := r.nextSet() + m.Executor.Weights; m.Limit == 0 || m.Total()+next <= m.Usable {
		c.WeightSets, r.from["weight_sets"] = 2, "memory holds another set"
		m.NextSet, m.Executor.NextSet = r.nextSet(), m.Executor.Weights
	}
	r.cpu.WeightSets = c.WeightSets
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

// sizeBatch decides the tokens and requests of a step. The tokens are the most up
// to bestBatchTokens beside which the cache holds a request of full length; below
// leastForSpeed, a smaller cache is the lesser evil while there is any.
func (r *Resolved) sizeBatch() error {
	c := &r.Config
	asked := r.requests()
	try := func(tokens int) (fits bool, err error) {
		r.cpu.MaxTokens, r.cpu.MaxSlots = tokens, min(asked, tokens)
		r.Memory.Executor, err = cpuexec.Plan(r.cpu)
		plan := r.Memory.Executor
		return err == nil && (plan.Bound != executor.ByMaxMemory || actors.CacheTokens(plan.Cache(), tokens) >= c.MaxContext), err
	}
	if c.MaxBatchTokens > 0 {
		if _, err := try(c.MaxBatchTokens); err != nil {
			return r.tooSmall(err)
		}
	} else {
		r.from["max_batch_tokens"] = "the best for a CPU"
		for c.MaxBatchTokens = bestBatchTokens; ; c.MaxBatchTokens /= 2 {
			fits, err := try(c.MaxBatchTokens)
			if fits || err == nil && c.MaxBatchTokens <= leastForSpeed {
				break
			}
			if err != nil && (c.MaxBatchTokens == 1 || !errors.Is(err, ErrMemory)) {
				return r.tooSmall(err)
			}
			r.from["max_batch_tokens"] = "max_memory_percent"
		}
	}
	r.capRequests(c.MaxBatchTokens, "max_batch_tokens")
	return nil
}

// tooSmall says what would have to fit, when the executor's plan finds that it does
// not.
func (r *Resolved) tooSmall(err error) error {
	m := &r.Memory
	if m.Limit == 0 || !errors.Is(err, ErrMemory) {
		return err
	}
	e := &m.Executor
	return fmt.Errorf("%w: %d bytes are usable (max_memory_percent %s of %d left of %d), weights take %d as stored and %d packed, "+
		"a step of %d tokens %d, adapters %d, and %s: use a smaller model or raise max_memory_percent",
		ErrMemory, m.Usable, formatFloat(r.Config.MaxMemoryPercent), m.Limit-m.Resident, m.Limit, m.WeightSet, e.Weights,
		r.cpu.MaxTokens, e.Work+e.Slots+e.Sampling, e.Adapters, e.Smallest())
}

// sizePool takes the executor's plan for the pool over.
func (r *Resolved) sizePool() {
	c, plan := &r.Config, &r.Memory.Executor
	because := map[executor.Bound]string{
		executor.ByUse:       use(c.MaxRequestsPerBatch, c.MaxContext),
		executor.ByQuarter:   "a quarter of the memory limit, which is fixed",
		executor.ByMaxMemory: "max_memory_percent",
	}[plan.Bound]
	if because != "" {
		r.lower("num_blocks", c.NumBlocks, plan.Blocks, because)
	}
	c.NumBlocks, r.cpu.NumBlocks = plan.Blocks, plan.Blocks
	if n := len(plan.Cache().Groups); n > 1 {
		r.from["num_blocks"] += forKinds(n)
	}
	r.noticeContext(actors.CacheTokens(plan.Cache(), c.MaxBatchTokens))
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
