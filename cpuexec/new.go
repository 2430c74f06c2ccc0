package cpuexec

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/cpuexec/pool"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// New packs the weights and makes an executor ready for its first step. It takes
// the memory that Plan says and starts Threads-1 threads. Errors wrap ErrConfig,
// ErrModel, ErrMemory or kernels.ErrUnavailable.
func New(cfg Config) (*Executor, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.MemoryLimit == 0 {
		cfg.MemoryLimit = MemoryLimit()
	}
	set, err := cfg.kernels()
	if err != nil {
		return nil, err
	}
	if err := checkSet(cfg.Model, cfg.Weights); err != nil {
		return nil, err
	}
	if cfg.Stored == nil {
		cfg.Stored = cfg.Weights.Tensors()
	}
	memory, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	d := dimsOf(cfg.Model)
	e := &Executor{config: cfg, memory: memory, formats: cfg.formats(&d), tiles: tileTable{}, kernels: set, queue: make([]*executor.Batch, 0, MaxOutstanding)}
	e.changed.L = &e.mu
	e.info = memory.Cache()
	e.info.Name = cfg.name(set)
	e.info.MaxSlots, e.info.MaxTokens, e.info.MaxContext = cfg.MaxSlots, cfg.MaxTokens, cfg.MaxContext
	e.info.Vocab, e.info.MaxOutstanding = cfg.Model.Vocab, MaxOutstanding
	e.info.MaxAdapters, e.info.MaxAdapterRank = cfg.MaxAdapters, cfg.MaxAdapterRank
	e.check = executor.NewChecker(e.info, cfg.Weights.Epoch)
	e.config.Weights, e.config.Stored = nil, nil // kept as long as it is loaded, and no longer
	if err := e.allocate(cfg.Weights); err != nil {
		return nil, errors.Join(err, e.freeAreas())
	}
	return e, nil
}

// Name is what an executor of c has as its name. Errors are Plan's that need no sizes, and
// kernels.ErrUnavailable.
func (c Config) Name() (string, error) {
	set, err := c.kernels()
	if err != nil {
		return "", err
	}
	if c, err = c.withDefaults(); err != nil {
		return "", err
	}
	return c.name(set), nil
}

// name says what computes, with which numbers, and what they are stored as.
func (c *Config) name(set *kernels.Set) string {
	compute := string(c.Compute)
	if c.Compute == ComputeInt8 && c.Quantize != QuantizeQ8 {
		compute += " " + string(c.Quantize)
	}
	return fmt.Sprintf("cpu %s %s kv %s", set.Name, compute, c.KVType)
}

// kernels are those of the configuration, else of the environment.
func (c Config) kernels() (*kernels.Set, error) {
	name := os.Getenv("CBACTOR_CPU")
	set, err := kernels.Choose(cmp.Or(c.Kernels, name))
	if err != nil && c.Kernels == "" {
		err = fmt.Errorf("CBACTOR_CPU: %w", err)
	}
	return set, err
}

// allocate takes the memory and starts the threads.
func (e *Executor) allocate(first *weights.Set) error {
	c, d := &e.config, dimsOf(e.config.Model)
	e.places = make(executor.Places[*area, packed], c.WeightSets)
	for i := range e.places {
		e.places[i].Memory = &area{what: "weights", size: e.memory.Weights, huge: true}
	}
	p := &e.places[0]
	w, err := e.packNow(p.Memory, first)
	if err != nil {
		return err
	}
	p.Hold(first, w)
	var parts [5]*area
	for i, p := range []struct {
		name string
		size int64
		huge bool
	}{
		{"the KV pool", e.memory.KV, true}, // attention then is 10 to 20 percent faster
		{"sequences", e.memory.Slots, false},
		{"activations", e.memory.Work, false},
		{"the host pool", e.memory.Host, false},
		{"adapters", e.memory.Adapters, true},
	} {
		if parts[i], err = newArea(p.name, p.size, p.huge); err != nil {
			return err
		}
		e.areas = append(e.areas, parts[i])
	}
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < c.Threads+2 {
		runtime.GOMAXPROCS(c.Threads + 2) // threads that spin would hold every P
	}
	e.pool = pool.New(c.Threads, c.Pin, c.FirstCPU)
	e.step = newStep(c, d, e.kernels, e.pool)
	e.kv, e.host = parts[0], parts[3]
	e.step.cache = newCache(e.kv, e.host, c, &d, &e.memory)
	e.step.slots = newSlots(parts[1], c, len(e.info.Groups))
	e.step.cutWork(parts[2])
	e.adapters = newAdapters(parts[4], c, &d, e.check)
	e.step.adapters = e.adapters
	e.info.CopyCost = c.copyCost(e.memory.BlockBytes, w.products())
	return e.tune(w)
}

func (e *Executor) freeAreas() error {
	var errs []error
	for _, a := range e.areas {
		errs = append(errs, a.free())
	}
	for i := range e.places {
		errs = append(errs, unpack(&e.places[i]))
	}
	return errors.Join(errs...)
}
