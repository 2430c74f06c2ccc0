package engine

import (
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// bestOnGPU are the tokens of a step on a GPU.
var bestOnGPU = best{tokens: 2048, least: 512, slots: gpuexec.MostSlots, from: "the best for a GPU"}

// followDevice decides what depends on where is computed: types, kernels and graphs.
func (r *Resolved) followDevice() error {
	if r.gpu != nil {
		return r.followGPU()
	}
	r.withoutGPU()
	if r.Config.Executor != nil {
		return nil
	}
	return r.followStored()
}

// withoutGPU is how the reference resolves fields of GPUs where there is none.
func (r *Resolved) withoutGPU() {
	c, none, given := &r.Config, 0, new(Config)
	*given = *c
	c.MaxBlocksPerRequest, c.UseCUDAGraph = &none, new(Graphs)
	why := map[string]string{"max_blocks_per_request": "there is no GPU", "use_cuda_graph": "there is no GPU", "batch_invariant": "a CPU always is"}
	if always := true; c.Executor == nil {
		c.BatchInvariant = &always
	} else {
		c.BatchInvariant, why["batch_invariant"] = nil, "the executor's"
	}
	for name, because := range why {
		r.from[name] = because
		if asked := format(fieldNamed(name).at(given).get()); r.given[name] != "" {
			r.from[name] = fmt.Sprintf("%s says %s; %s", r.given[name], asked, because)
		}
	}
}

// followGPU decides the same for a GPU, and refuses what it does not compute.
func (r *Resolved) followGPU() error {
	c := &r.Config
	for _, t := range []struct {
		name string
		at   *string
	}{{"compute", &c.Compute}, {"kv_dtype", &c.KVDType}} {
		if auto(*t.at) {
			*t.at, r.from[t.name] = string(cpuexec.ComputeBF16), "what a GPU computes in"
		}
		if *t.at != string(cpuexec.ComputeBF16) {
			return &notOnGPU{field: t.name, why: fmt.Sprintf("%s is %s (%s), a GPU computes in bf16", t.name, *t.at, r.given[t.name]), do: "leave it out"}
		}
	}
	if auto(c.Quantize) {
		delete(r.given, "quantize")
		c.Quantize, r.from["quantize"] = "", "weights stay as they are stored"
	}
	if c.Quantize == string(cpuexec.QuantizeColumn) {
		return &notOnGPU{field: "quantize", why: fmt.Sprintf("quantize is column (%s), which acts on a CPU, with compute int8", r.given["quantize"]), do: "take q8 or q4"}
	}
	c.Attention, r.from["attention"] = "", "a GPU has one"
	if c.UseCUDAGraph == nil {
		c.UseCUDAGraph, r.from["use_cuda_graph"] = &Graphs{Varlen: true, Decode: true}, "attention needs no masks"
	}
	r.noticeLosses()
	return r.followVendor()
}

// followVendor opens NVIDIA's library of products, where the batch may matter.
func (r *Resolved) followVendor() (err error) {
	c, given := &r.Config, r.given["batch_invariant"]
	if *c.BatchInvariant {
		return nil
	}
	if c.Record != nil {
		return &notOnGPU{field: "batch_invariant", why: fmt.Sprintf("batch_invariant is false (%s), and a record is of tokens that can be computed again alone", given), do: "leave one of them out"}
	}
	if r.vendor, err = cublaslt.Open(""); err != nil {
		return fmt.Errorf("%w: batch_invariant is false (%s): %w, or leave it true", ErrDevice, given, err)
	}
	return nil
}

// gpuLoses is maker.loses for the executor for GPUs: matrices that were stored as whole numbers
// stay packed, what is quantised is, and all others are bf16.
func (r *Resolved) gpuLoses(was, sent model.DType) bool {
	switch was {
	case model.Q8_0, model.Q4_0, model.Q4_1:
		return sent != was
	}
	if r.quantized() != "" && !was.Integer() {
		return true
	}
	return sent != model.BF16 && sent != model.MXFP4
}

// gpuConfig is what the executor for GPUs needs but for the sizes and the weights.
func (r *Resolved) gpuConfig() (gpuexec.Config, error) {
	c, d := &r.Config, &r.Memory.Device
	var err error
	if d.Free, d.Memory, err = gpuexec.Room(r.gpu); err != nil {
		return gpuexec.Config{}, fmt.Errorf("%w: the memory of %s: %w", ErrDevice, c.Device, err)
	}
	d.Usable = max(1, int64(c.MaxMemoryPercent*float64(d.Free)))
	return gpuexec.Config{Device: r.gpu, Model: c.Checkpoint.Config, Stored: c.Checkpoint.Tensors(), Quantize: gpuexec.Quantize(r.quantized()),
		PageSize: c.PageSize, MaxContext: c.MaxContext, MaxMemory: d.Usable, MaxAdapters: c.MaxAdapters, MaxAdapterRank: c.MaxAdapterRank,
		Graphs: gpuexec.Graphs(*c.UseCUDAGraph), QPadding: c.QPaddingIntervalSize, KVPadding: c.KVPaddingIntervalSize, CublasLt: r.vendor, Tune: c.tune()}, nil
}

// planGPU is plan for the executor for GPUs.
func (r *Resolved) planGPU() error {
	m, cfg := &r.Memory, &r.gpuPlan
	cfg.MaxTokens, cfg.MaxSlots, cfg.NumBlocks, cfg.HostBlocks, cfg.WeightSets = r.sizes.tokens, r.sizes.slots, r.sizes.blocks, r.sizes.host, r.sizes.sets
	var err error
	e := &m.Device.Executor
	if *e, err = gpuexec.Plan(*cfg); err != nil {
		return r.tooSmallForGPU(err)
	}
	if err := r.hostFits(); err != nil {
		return err
	}
	r.pool = e.Pool
	return nil
}

// tooSmallForGPU says how much of the GPU may be used, when the executor's plan finds that it
// is too little.
func (r *Resolved) tooSmallForGPU(err error) error {
	if d := &r.Memory.Device; errors.Is(err, ErrMemory) {
		return fmt.Errorf("%w, max_memory_percent %s of the %d free on %s", err, formatFloat(r.Config.MaxMemoryPercent), d.Free, r.Config.Device)
	}
	return err
}

// hostFits makes sure that the host has room for what a GPU does not hold.
func (r *Resolved) hostFits() error {
	m, e := &r.Memory, &r.Memory.Device.Executor
	pool := e.Host
	if m.Limit == 0 || m.Total()-pool <= m.Usable && m.Resident+m.Total() <= m.Limit {
		return nil
	}
	e.Host = 0 // there is none
	return fmt.Errorf("%w: of the host %d bytes are usable (max_memory_percent %s of %d left of %d), weights take %d as stored, what goes to the GPU and comes back %d, and the host pool %d: "+
		"use a smaller model or raise max_memory_percent", ErrMemory, m.Usable, formatFloat(r.Config.MaxMemoryPercent), m.Limit-m.Resident, m.Limit, m.WeightSet+m.NextSet, e.Pinned, pool)
}

// onGPU makes executors on a GPU.
func (r *Resolved) onGPU() func(*weights.Set) (executor.Executor, error) {
	cfg, log := r.gpuPlan, r.Config.Log
	r.keepTuned(&cfg.Tune)
	cfg.Warn = func(err error) { log.Warn().Err(err).Msg("graphs") }
	return func(set *weights.Set) (executor.Executor, error) {
		cfg := cfg
		cfg.Weights = set
		return gpuexec.New(cfg)
	}
}
