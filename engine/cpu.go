package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/ranks"
)

// bestOnCPU are the tokens of a step on a CPU.
var bestOnCPU = best{tokens: 512, least: 256, slots: 1 << 16, from: "the best for a CPU"}

// cpuConfig is what the CPU executor needs but for the sizes and the weights.
func (r *Resolved) cpuConfig() cpuexec.Config {
	c := &r.Config
	if c.Threads == 0 {
		c.Threads, r.from["threads"] = cpuexec.CPUs(), "one for each CPU"
	}
	if c.TensorParallelSize > c.Threads {
		r.notice("threads is %d (%s), and each of %d ranks has one: there are as many, which wait for each other", c.Threads, r.from["threads"], c.TensorParallelSize)
		c.Threads = c.TensorParallelSize
	}
	return cpuexec.Config{Model: c.Checkpoint.Config, Stored: c.Checkpoint.Tensors(), Threads: c.Threads, Pin: c.Pin, PageSize: c.PageSize,
		MaxContext: c.MaxContext, MaxAdapters: c.MaxAdapters, MaxAdapterRank: c.MaxAdapterRank, MemoryLimit: r.Memory.Limit,
		Compute: cpuexec.Compute(c.Compute), Quantize: cpuexec.Quantize(r.quantized()), KVType: cpuexec.KVType(c.KVDType), Attention: cpuexec.Attention(c.Attention),
		Tune: c.tune()}
}

// planCPU is plan for the CPU executor.
func (r *Resolved) planCPU() error {
	m, cfg := &r.Memory, &r.cpu
	cfg.MaxTokens, cfg.MaxSlots, cfg.NumBlocks, cfg.HostBlocks, cfg.WeightSets = r.sizes.tokens, r.sizes.slots, r.sizes.blocks, r.sizes.host, r.sizes.sets
	cfg.InUse = m.Resident + m.WeightSet + m.NextSet
	if m.Limit > 0 {
		cfg.MaxMemory = max(1, m.Usable-m.WeightSet-m.NextSet) // 0 is no bound
	}
	var err error
	if n := r.Config.TensorParallelSize; n > 1 {
		m.Executor, err = r.ranks(*cfg).Plan()
	} else {
		m.Executor, err = cpuexec.Plan(*cfg)
	}
	if err != nil {
		return r.tooSmallForCPU(err)
	}
	r.pool = m.Executor.Pool
	return nil
}

// ranks are those that compute the model together, in this process.
func (r *Resolved) ranks(cfg cpuexec.Config) ranks.CPU {
	timeout := r.Config.CPUGroupTimeout
	if timeout == Forever {
		timeout = math.MaxInt64
	}
	return ranks.CPU{Config: cfg, Ranks: r.Config.TensorParallelSize, Timeout: timeout}
}

// tooSmallForCPU says what would have to fit, when the executor's plan finds that it does
// not.
func (r *Resolved) tooSmallForCPU(err error) error {
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

// cpuLoses is maker.loses for the CPU executor.
func (r *Resolved) cpuLoses(was, sent model.DType) bool {
	return r.loses(sent) || was == model.MXFP4 && r.cpu.Compute == cpuexec.ComputeBF16 // which has no panels of bf16 for it
}
