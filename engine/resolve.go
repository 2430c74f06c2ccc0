package engine

import (
	"fmt"
	"math/rand/v2"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// Defaults of fields that are left at zero.
const (
	defaultPageSize    = 32
	defaultBatchTokens = 512
	defaultBatchRows   = 64
	defaultQueueSize   = 4096

	safetyMargin = 0.15 // of the blocks, left free by new requests for the growth of running ones
)

// plan is a resolved Config.
type plan struct {
	compute     string
	threads     int
	pageSize    int
	blocks      int
	batchTokens int
	batchRows   int
	maxContext  int
	queueSize   int
	seed        uint64
}

// resolve checks a Config and fills what was left open; cfg stays as it is.
func resolve(cfg Config) (plan, error) {
	p := plan{compute: cfg.Compute, threads: cfg.Threads, pageSize: cfg.PageSize, blocks: cfg.NumBlocks, batchTokens: cfg.MaxBatchTokens,
		batchRows: cfg.MaxRequestsPerBatch, maxContext: cfg.MaxContext, queueSize: cfg.MaxQueueSize, seed: cfg.Seed}
	if cfg.Executor != nil {
		if err := checkExecutor(cfg); err != nil {
			return p, err
		}
	} else if cfg.Checkpoint == nil {
		return p, fmt.Errorf("%w: neither Checkpoint nor Executor is set", ErrConfig)
	}
	for _, f := range []struct {
		name          string
		value         *int
		fallback, top int
	}{
		{"threads", &p.threads, 0, 1024}, {"num_blocks", &p.blocks, 0, 1 << 30}, {"max_context", &p.maxContext, 0, 1 << 30},
		{"page_size", &p.pageSize, defaultPageSize, 4096}, {"max_batch_tokens", &p.batchTokens, defaultBatchTokens, 1 << 16},
		{"max_requests_per_batch", &p.batchRows, defaultBatchRows, 1 << 16}, {"max_queue_size", &p.queueSize, defaultQueueSize, 1 << 30},
	} {
		if *f.value < 0 || *f.value > f.top {
			return p, fmt.Errorf("%w: %s is %d, must be from 0 (automatic) to %d", ErrConfig, f.name, *f.value, f.top)
		}
		if *f.value == 0 {
			*f.value = f.fallback
		}
	}
	switch p.compute {
	case "", "auto", "f32":
		p.compute = "f32"
	default:
		return p, fmt.Errorf("%w: compute is %q, must be auto or f32", ErrConfig, cfg.Compute)
	}
	p.batchRows = min(p.batchRows, p.batchTokens) // each running request gets a token in every step
	for p.seed == 0 {
		p.seed = rand.Uint64()
	}
	return p, nil
}

// checkExecutor refuses an executor that nothing can run on, and settings that it
// would not see.
func checkExecutor(cfg Config) error {
	info := cfg.Executor.Info()
	if info.PageSize < 1 || len(info.Groups) == 0 || scarcest(info) < 1 || info.MaxSlots < 1 || info.MaxTokens < 1 || info.MaxContext < 2 || info.Vocab < 1 || info.MaxOutstanding < 1 {
		return fmt.Errorf("%w: the executor has no room: %+v", ErrConfig, info)
	}
	if cfg.Threads != 0 || cfg.PageSize != 0 || cfg.NumBlocks != 0 || cfg.Pin || cfg.Compute != "" {
		return fmt.Errorf("%w: compute, threads, pin, page_size and num_blocks are the executor's own when one is given", ErrConfig)
	}
	if cfg.MaxContext > info.MaxContext {
		return fmt.Errorf("%w: max_context is %d, the executor has %d", ErrConfig, cfg.MaxContext, info.MaxContext)
	}
	return nil
}

// sched bounds the plans by what the executor can do.
func (p plan) sched(info executor.Info) sched.Config {
	return sched.Config{MaxTokens: min(p.batchTokens, info.MaxTokens), MaxSlots: min(p.batchRows, info.MaxSlots, info.MaxTokens),
		PageSize: info.PageSize, Blocks: scarcest(info), Depth: min(2, info.MaxOutstanding),
		Margin: int(safetyMargin * float64(scarcest(info))), Sharing: true}
}

func (p plan) limits(info executor.Info) actors.Limits {
	return actors.Limits{Vocab: info.Vocab, MaxContext: p.context(info), CacheTokens: scarcest(info) * info.PageSize, MaxOpen: p.queueSize}
}

// context is the longest request: the model's context, or less if so configured.
func (p plan) context(info executor.Info) int {
	if p.maxContext == 0 {
		return info.MaxContext
	}
	return min(p.maxContext, info.MaxContext)
}

// scarcest is the number of blocks of the smallest cache group.
func scarcest(info executor.Info) int {
	n := info.Groups[0].Blocks
	for _, g := range info.Groups[1:] {
		n = min(n, g.Blocks)
	}
	return n
}
