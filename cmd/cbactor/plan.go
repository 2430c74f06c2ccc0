package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/engine"
)

// What engine.Spawn puts for fields that are left at zero.
const (
	defaultPageSize    = 32
	defaultBatchTokens = 512
	defaultBatchRows   = 64
	defaultQueueSize   = 4096
)

// planEngine is what an engine of a configuration would have as its Info, found
// without reading the weights. The seed is 0 where it would be drawn.
func planEngine(cfg engine.Config, model *checkpoint.Checkpoint) (engine.Info, error) {
	if cfg.Compute != "auto" && cfg.Compute != "f32" {
		return engine.Info{}, fmt.Errorf("%w: compute is %q, must be auto or f32", engine.ErrConfig, cfg.Compute)
	}
	if cfg.MaxContext > model.Config.MaxPosition {
		return engine.Info{}, fmt.Errorf("%w: max_context is %d, the model has %d", engine.ErrConfig, cfg.MaxContext, model.Config.MaxPosition)
	}
	set, err := kernels.Choose(os.Getenv("CBACTOR_CPU"))
	if err != nil {
		return engine.Info{}, err
	}
	info := engine.Info{
		Executor: "cpu " + set.Name + " f32", Compute: "f32", Threads: cmp.Or(cfg.Threads, runtime.GOMAXPROCS(0)),
		Vocab: model.Config.Vocab, EOS: model.Config.EOS, MaxContext: cmp.Or(cfg.MaxContext, model.Config.MaxPosition),
		PageSize: cmp.Or(cfg.PageSize, defaultPageSize), BatchTokens: cmp.Or(cfg.MaxBatchTokens, defaultBatchTokens),
		QueueSize: cmp.Or(cfg.MaxQueueSize, defaultQueueSize), Seed: cfg.Seed,
	}
	info.BatchRows = min(cmp.Or(cfg.MaxRequestsPerBatch, defaultBatchRows), info.BatchTokens)
	memory, err := cpuexec.Plan(cpuexec.Config{
		Model: model.Config, Threads: info.Threads, PageSize: info.PageSize, NumBlocks: cfg.NumBlocks, MaxSlots: info.BatchRows,
		MaxTokens: info.BatchTokens, MaxContext: info.MaxContext, MemoryLimit: cpuexec.MemoryLimit(),
	})
	info.Blocks, info.CacheBytes, info.WeightBytes = memory.Blocks, memory.KV, memory.Weights
	return info, err
}
