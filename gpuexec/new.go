package gpuexec

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// New copies the weights to the device and makes an executor ready for its first step. It takes the
// memory that Plan says and starts a goroutine, which Close ends. Errors wrap ErrConfig, ErrModel,
// executor.ErrMemory, and those of packages cuda and kernels.
func New(cfg Config) (*Executor, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.Device == nil {
		return nil, fmt.Errorf("%w: Device is nil", ErrConfig)
	}
	if err := checkSet(cfg.Model, cfg.Weights); err != nil {
		return nil, err
	}
	if cfg.Stored == nil {
		cfg.Stored = cfg.Weights.Tensors()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, err := cfg.Device.Retain()
	if err != nil {
		return nil, err
	}
	e := &Executor{config: cfg, dims: dimsOf(&cfg), layout: layoutOf(&cfg), ctx: ctx, released: make(chan struct{})}
	e.changed.L = &e.mu
	life, die := context.WithCancelCause(context.Background())
	e.life, e.die = life, func() { die(executor.ErrClosed) }
	e.config.Weights = nil // kept as long as it is loaded, and no longer
	if err := e.open(cfg.Weights); err != nil {
		return nil, errors.Join(err, e.release(), ctx.Close())
	}
	go e.launcher()
	return e, nil
}

// open takes everything, on a thread that it binds the context to.
func (e *Executor) open(first *weights.Set) error {
	c := &e.config
	err := e.ctx.Bind()
	if err != nil {
		return err
	}
	if c.MaxMemory == 0 {
		free, _, err := e.ctx.Memory()
		if err != nil {
			return err
		}
		c.MaxMemory = int64(free / 100 * DefaultShare)
	}
	if e.memory, err = c.plan(); err != nil {
		return err
	}
	if e.kernels, err = kernels.Load(e.ctx, c.Device); err != nil {
		return err
	}
	e.describe()
	e.check = executor.NewChecker(e.info, first.Epoch)
	e.order = make([]int32, 0, c.MaxSlots)
	e.slots, e.input, e.sampler = newSlots(c), newInput(c, len(e.layout.groups)), sampling.NewSampler(c.Model.Vocab)
	e.edits = make([]int32, 0, kernels.EditInts)
	for _, s := range []**cuda.Stream{&e.in, &e.compute, &e.out} {
		if *s, err = e.ctx.NewStream(); err != nil {
			return err
		}
	}
	if e.watch, err = newStopwatch(e.ctx, c.Timed); err != nil {
		return err
	}
	if err := e.allocate(first); err != nil {
		return err
	}
	return e.tune()
}

// describe makes Info.
func (e *Executor) describe() {
	c := &e.config
	e.info = e.memory.Cache()
	e.info.Name = c.Name()
	e.info.MaxSlots, e.info.MaxTokens, e.info.MaxContext = c.MaxSlots, c.MaxTokens, c.MaxContext
	e.info.Vocab, e.info.MaxOutstanding = c.Model.Vocab, MaxOutstanding
	e.info.MaxAdapters, e.info.MaxAdapterRank = c.MaxAdapters, c.MaxAdapterRank
	if c.Graphs.Decode {
		e.info.Sizes = sizes(c)
	}
	e.info.Overlap = c.HostBlocks > 0
	e.info.CopyCost = copyCost(e.memory.BlockBytes/int64(c.PageSize), e.dims.products())
}

// Name is what an executor of c has as its name: its device, and what is computed in.
func (c *Config) Name() string {
	name := fmt.Sprintf("cuda:%d %s bf16", c.Device.Ordinal, c.Device.Name)
	if c.Quantize != "" {
		name += " " + string(c.Quantize)
	}
	name += " kv bf16"
	if c.CublasLt != nil {
		name += " cublasLt"
	}
	return name
}

// copyCost is what it costs to copy K and V of a token out and in again, against computing the token in a
// prompt, where opsPerByte are computed while a byte is copied: of a bus of 50 GB/s beside half of a
// quadrillion operations a second.
func copyCost(tokenBytes, products int64) float64 {
	const opsPerByte = 10000
	return 2 * opsPerByte * float64(tokenBytes) / float64(2*products)
}

// allocate takes the memory, and fills what steps expect to be there.
func (e *Executor) allocate(first *weights.Set) error {
	c, m := &e.config, &e.memory
	if err := e.sender.open(e.ctx); err != nil {
		return err
	}
	e.places = make(places, c.WeightSets)
	for i := range e.places {
		e.places[i].Memory = &room{ctx: e.ctx, what: "weights", size: m.Weights}
	}
	p := &e.places[0]
	at, err := e.put(e.life, p.Memory, first)
	if err != nil {
		return err
	}
	p.Hold(first, at)
	groups := len(e.layout.groups)
	e.buffers = room{ctx: e.ctx, what: "the buffers of steps", size: m.Work}
	e.pool = room{ctx: e.ctx, what: "the KV pool", size: m.KV}
	e.adapters.open(c.MaxAdapters, e.check, room{ctx: e.ctx, what: "adapters", size: m.Adapters})
	e.host = pinned{ctx: e.ctx, what: "the host pool", size: m.Host}
	e.stepping = pinned{ctx: e.ctx, what: "the inputs of steps", size: int64(c.stepBytes(groups))}
	if err := e.openSwap(); err != nil {
		return err
	}
	if err := errors.Join(e.buffers.take(), e.takeCache(), e.stepping.take(), e.adapters.room.take()); err != nil {
		return err
	}
	e.work, _ = layWork(c, &e.dims, groups, e.buffers.at)
	// What rows are padded with must be zeros.
	if err := e.compute.Fill(e.buffers.at, 0, int(m.Work)); err != nil {
		return err
	}
	if err := e.compute.Synchronize(); err != nil {
		return err
	}
	if err := e.turn(); err != nil {
		return err
	}
	if err := e.newSteps(e.stepping.mem); err != nil {
		return err
	}
	return e.vendor.open(e, at)
}
