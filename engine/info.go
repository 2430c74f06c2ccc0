package engine

import "github.com/cbactor/cbactor/executor"

// Info is what an engine with this configuration has as its Info, without reading
// the weights. An instruction set that the environment names and the CPU lacks is
// kernels.ErrUnavailable.
func (r *Resolved) Info() (Info, error) {
	if ex := r.Config.Executor; ex != nil {
		return r.info(ex.Info()), nil
	}
	name, err := r.executorName()
	if err != nil {
		return Info{}, err
	}
	return r.info(executor.Info{Name: name, Vocab: r.Config.Checkpoint.Config.Vocab, MaxAdapters: r.Config.MaxAdapters, MaxAdapterRank: r.Config.MaxAdapterRank}), nil
}

// executorName is what the executor will have as its name.
func (r *Resolved) executorName() (string, error) {
	if r.gpu != nil {
		return r.gpuPlan.Name(), nil
	}
	if r.Config.TensorParallelSize > 1 {
		return r.ranks(r.cpu).Name()
	}
	return r.cpu.Name()
}

// info is what an engine runs with on an executor.
func (r *Resolved) info(info executor.Info) Info {
	c := &r.Config
	out := Info{Executor: info.Name, Compute: c.Compute, KVType: c.KVDType, Attention: c.Attention, Threads: c.Threads, Vocab: info.Vocab, MaxContext: c.MaxContext, PageSize: c.PageSize,
		Blocks: c.NumBlocks, CacheTokens: r.cacheTokens, BatchTokens: c.MaxBatchTokens, BatchRows: c.MaxRequestsPerBatch, QueueSize: c.MaxQueueSize, Seed: c.Seed,
		Adapters: info.MaxAdapters, AdapterRank: info.MaxAdapterRank,
		CacheBytes: r.Memory.Executor.KV + r.Memory.Device.Executor.KV, WeightBytes: r.Memory.Executor.Weights + r.Memory.Device.Executor.Weights,
		Settings: r.Settings(), Notices: r.Notices, Memory: r.Memory}
	if r.gpu != nil {
		out.Threads = 0 // whatever was given for a CPU
	}
	if c.Checkpoint != nil {
		out.EOS = c.Checkpoint.Config.EOS
	}
	return out
}
