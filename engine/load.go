package engine

import (
	"context"
	"fmt"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// loadCPU reads the weights and makes the CPU executor.
func (p plan) loadCPU(ctx context.Context, cfg Config) (*cpuexec.Executor, error) {
	if cfg.Checkpoint.Config.MaxPosition < p.maxContext {
		return nil, fmt.Errorf("%w: max_context is %d, the model has %d", ErrConfig, p.maxContext, cfg.Checkpoint.Config.MaxPosition)
	}
	set, err := weights.Load(cfg.Checkpoint.Config, cfg.Checkpoint, 1, "")
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return cpuexec.New(cpuexec.Config{
		Model: cfg.Checkpoint.Config, Weights: set, Threads: p.threads, PageSize: p.pageSize, NumBlocks: p.blocks,
		MaxSlots: p.batchRows, MaxTokens: p.batchTokens, MaxContext: p.maxContext, Pin: cfg.Pin,
	})
}

// show is the configuration in force.
func (p plan) show(cfg Config, ex executor.Executor) Info {
	info := ex.Info()
	out := Info{Executor: info.Name, Compute: p.compute, Threads: p.threads, Vocab: info.Vocab, MaxContext: p.context(info), PageSize: info.PageSize,
		Blocks: scarcest(info), BatchTokens: min(p.batchTokens, info.MaxTokens), BatchRows: min(p.batchRows, info.MaxSlots, info.MaxTokens), QueueSize: p.queueSize, Seed: p.seed}
	if cfg.Checkpoint != nil {
		out.EOS = cfg.Checkpoint.Config.EOS
	}
	if cfg.Executor != nil {
		out.Compute = ""
	}
	if cpu, ok := ex.(*cpuexec.Executor); ok {
		m := cpu.Memory()
		out.Threads, out.CacheBytes, out.WeightBytes = cpu.Threads(), m.KV, m.Weights
	}
	return out
}
