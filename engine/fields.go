package engine

// fields describe every entry of Config.
var fields = []Field{
	{Name: "device", Help: "where is computed: on the CPU, on an NVIDIA GPU (cuda: the first that can), or auto: on a GPU if there is one that computes what is asked for", Derived: "auto",
		at: func(c *Config) value { return device(&c.Device) }},

	{Name: "max_context", Help: "tokens of a request, prompt and generated", Derived: "the model's context", Min: 1, Max: 1 << 30,
		at: func(c *Config) value { return whole(&c.MaxContext) }},
	{Name: "max_queue_size", Help: "requests open at a time, waiting and running", Derived: "from memory", Min: 1, Max: 1 << 30,
		at: func(c *Config) value { return whole(&c.MaxQueueSize) }},
	{Name: "return_logprobs", Help: "give the log-probability of every token generated", Default: "false",
		at: func(c *Config) value { return opt(&c.ReturnLogprobs, boolean) }},
	{Name: "seed", Help: "seed of sampling: the same seed and request ids give the same tokens; 0: random", Derived: "random",
		at: func(c *Config) value { return seed(&c.Seed) }},
	{Name: "per_request_processors", Help: "requests bring their own sampling; false has no effect, they always may", Default: "true",
		at: func(c *Config) value { return opt(&c.PerRequestProcessors, boolean) }},
	{Name: "drop_unsupported_processors", Help: "go on without the sampling that the model recommends and the engine lacks; false: refuse the model", Default: "true",
		at: func(c *Config) value { return opt(&c.DropUnsupportedProcessors, boolean) }},
	{Name: "hints", Help: "what will be asked for: tokens of the longest prompt and generation, number of requests", Derived: "the requests, where they are known",
		at: func(c *Config) value { return hints(&c.Hints) }},

	{Name: "scheduler_type", Help: "order of requests; docs/configuration.md describes each", Default: "fifo", Choices: []string{"fifo", "prefill_first", "priority"},
		at: func(c *Config) value { return word(&c.SchedulerType) }},
	{Name: "safety_margin", Help: "share of the cache that new prompts leave free", Derived: "0.15, with prefill_first 0", Max: 1,
		at: func(c *Config) value { return opt(&c.SafetyMargin, real) }},
	{Name: "max_batch_tokens", Help: "tokens of a step", Derived: "512, on a GPU 2048, less where memory is short", Min: 1, Max: 1 << 16,
		at: func(c *Config) value { return whole(&c.MaxBatchTokens) }},
	{Name: "max_requests_per_batch", Help: "requests that run at a time", Derived: "hints, else 1024; at most max_batch_tokens", Min: 1, Max: 1 << 16,
		at: func(c *Config) value { return whole(&c.MaxRequestsPerBatch) }},
	{Name: "max_batch_reads", Help: "cache positions that the rows of a step read together; one row always goes. 0: any number", Default: "0", Max: 1 << 30,
		at: func(c *Config) value { return whole(&c.MaxBatchReads) }},
	{Name: "use_async_batching", Help: "plan a step while the one before runs", Derived: "where the executor takes two steps",
		at: func(c *Config) value { return opt(&c.UseAsyncBatching, boolean) }},

	{Name: "page_size", Help: "tokens of a cache block", Default: "32", Min: 1, Max: 4096,
		at: func(c *Config) value { return whole(&c.PageSize) }},
	{Name: "num_blocks", Help: "cache blocks at most; on a CPU they take a quarter of the memory limit at most, which is fixed", Derived: "from memory", Min: 1, Max: 1 << 30,
		at: func(c *Config) value { return whole(&c.NumBlocks) }},
	{Name: "max_memory_percent", Help: "share of the memory not yet in use that the engine may take, of the host and of the GPU that it computes on; on a CPU the cache gets a quarter of the memory limit at most, which is fixed", Default: "0.6", Min: 1e-6, Max: 1, Acts: OwnExecutor,
		at: func(c *Config) value { return real(&c.MaxMemoryPercent) }},
	{Name: "max_blocks_per_request", Help: "width of block tables on the decode fast path; 0 turns it off", Derived: "hints, else 32", Max: 1 << 20, Acts: Nowhere,
		at: func(c *Config) value { return opt(&c.MaxBlocksPerRequest, whole) }},
	{Name: "allow_block_sharing", Help: "requests share the cache of equal beginnings", Default: "true",
		at: func(c *Config) value { return opt(&c.AllowBlockSharing, boolean) }},
	{Name: "cpu_offload_space", Help: "GiB of host memory for the cache of requests that were given up; none: as much as its threshold leaves", Default: "0", Max: 1 << 20, None: "-1",
		at: func(c *Config) value { return real(&c.CPUOffloadSpace) }},
	{Name: "cpu_offload_space_safety_threshold", Help: "share of the host's memory that cpu_offload_space may be; 1 lifts the cap", Default: "0.8", Max: 1, Acts: WithOffload,
		at: func(c *Config) value { return opt(&c.CPUOffloadSpaceSafetyThreshold, real) }},

	{Name: "max_adapters", Help: "LoRA adapters loaded at a time, whose memory is taken at the start", Default: "0", Max: 1024, Acts: OwnExecutor,
		at: func(c *Config) value { return whole(&c.MaxAdapters) }},
	{Name: "max_adapter_rank", Help: "rank of an adapter's module", Default: "32", Min: 1, Max: 1024, Acts: WithAdapters,
		at: func(c *Config) value { return whole(&c.MaxAdapterRank) }},

	{Name: "weight_sets", Help: "weight sets that can be computed with at a time: with 2 an update takes effect without a pause and there is a way back, with 1 less memory is taken", Derived: "2 where memory holds another one", Max: 2, Acts: OwnExecutor,
		at: func(c *Config) value { return whole(&c.WeightSets) }},
	{Name: "update_dtype", Help: "type that updates are cast to and stored in; sent: as they come. In place they become what is there", Default: "sent", Choices: []string{"sent", "f32", "f16", "bf16"}, Acts: OwnExecutor,
		at: func(c *Config) value { return word(&c.UpdateDType) }},

	{Name: "compute", Help: "what weights are multiplied as: f32 is exact, for int8 activations are quantised, too; auto is int8 or bf16 where the model is stored so, else f32. A GPU computes in bf16", Derived: "as the model is stored, on a GPU bf16", Choices: []string{"auto", "f32", "bf16", "int8"}, Acts: OwnExecutor,
		at: func(c *Config) value { return word(&c.Compute) }},
	{Name: "quantize", Help: "what weights stored as floats become: q8 or q4 on a GPU, and on a CPU with compute int8, where column is for all weights, one scale for each output", Derived: "q8, on a GPU they stay floats", Choices: []string{"auto", "q8", "q4", "column"}, Acts: WithIntegers,
		at: func(c *Config) value { return word(&c.Quantize) }},
	{Name: "kv_dtype", Help: "type of keys and values in the cache, which bounds how many tokens fit", Derived: "as compute; bf16 where int8 does not fit the model's heads, and on a GPU", Choices: []string{"auto", "f32", "bf16", "int8"}, Acts: OwnExecutor,
		at: func(c *Config) value { return word(&c.KVDType) }},
	{Name: "attention", Help: "kernel of attention", Derived: "tiled", Choices: []string{"auto", "plain", "tiled"}, Acts: OnCPU,
		at: func(c *Config) value { return word(&c.Attention) }},
	{Name: "auto_switch_to_flash", Help: "let attention auto choose the fused kernel", Default: "true", Acts: Nowhere,
		at: func(c *Config) value { return opt(&c.AutoSwitchToFlash, boolean) }},
	{Name: "threads", Help: "threads that compute", Derived: "one for each CPU", Min: 1, Max: 1024, Acts: OnCPU,
		at: func(c *Config) value { return whole(&c.Threads) }},
	{Name: "pin", Help: "bind threads to CPUs, where the system can", Default: "false", Acts: OnCPU,
		at: func(c *Config) value { return boolean(&c.Pin) }},

	{Name: "use_cuda_graph", Help: "run captured graphs: one value, or one for ragged batches and one for decoding", Derived: "for all steps", Acts: OnGPU,
		at: func(c *Config) value { return opt(&c.UseCUDAGraph, graphs) }},
	{Name: "q_padding_interval_size", Help: "tokens that a graph's batches are padded to multiples of", Default: "64", Min: 1, Max: 1 << 20, Acts: OnGPU,
		at: func(c *Config) value { return whole(&c.QPaddingIntervalSize) }},
	{Name: "kv_padding_interval_size", Help: "cache reads that a graph's batches are padded to multiples of", Default: "16384", Min: 1, Max: 1 << 30, Acts: OnGPU,
		at: func(c *Config) value { return whole(&c.KVPaddingIntervalSize) }},

	{Name: "batch_invariant", Help: "what a request gets never depends on the requests beside it, to the bit; false lets NVIDIA's cublasLt compute large products, where it is installed", Default: "true", Acts: OnGPU,
		at: func(c *Config) value { return opt(&c.BatchInvariant, boolean) }},

	{Name: "varlen_compile_config", Help: "tuning for steps of more than 64 tokens, as prompts make; none: it measures nothing", Derived: "default_compile_level", None: untuned, Acts: OwnExecutor,
		at: func(c *Config) value { return opt(&c.VarlenCompileConfig, compile) }},
	{Name: "decode_compile_config", Help: "tuning for shorter steps; none: it measures nothing", Derived: "default_compile_level", None: untuned, Acts: OwnExecutor,
		at: func(c *Config) value { return opt(&c.DecodeCompileConfig, compile) }},
	{Name: "default_compile_level", Help: "effort of tuning; docs/configuration.md describes each level", Default: "0", Max: 3, Acts: OwnExecutor,
		at: func(c *Config) value { return whole(&c.DefaultCompileLevel) }},

	{Name: "tensor_parallel_size", Help: "ranks that compute the model together, each a part of every layer, with its share of the threads", Default: "1", Min: 1, Max: 1024,
		at: func(c *Config) value { return whole(&c.TensorParallelSize) }},
	{Name: "disable_nccl_graph_mixing", Help: "keep NCCL's own graphs out of captured ones", Default: "true", Acts: AmongGPUs,
		at: func(c *Config) value { return opt(&c.DisableNCCLGraphMixing, boolean) }},
	{Name: "cpu_group_timeout", Help: "seconds that ranks wait for each other; none: for ever", Default: "300", Min: 0.001, Max: 1 << 30, None: "-1", Acts: AmongRanks,
		at: func(c *Config) value { return seconds{&c.CPUGroupTimeout} }},
}

// alias is another name, which fields had or are called by, too, and what becomes of its values.
type alias struct {
	name  string
	to    string            // "": nothing
	value map[string]string // nil: as they are
	note  string            // said when it is used; "": nothing
}

var aliases = []alias{
	{name: "ranks", to: "tensor_parallel_size"},
	{name: "block_size", to: "page_size", note: "is the old name of page_size"},
	{name: "use_default_compile_configs", to: "default_compile_level", value: map[string]string{"true": "3", "false": "0", "none": "none", "null": "null", "auto": "auto"},
		note: "is old: true is default_compile_level 3, false is 0"},
	{name: "max_cached_graphs", note: "is old and has no effect: graphs are bounded by memory"},
}
