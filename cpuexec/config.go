package cpuexec

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

var (
	// ErrConfig is the class of refused configurations.
	ErrConfig = errors.New("cpuexec: bad configuration")
	// ErrModel is the class of models that this executor cannot compute.
	ErrModel = errors.New("cpuexec: model is not supported")
	// ErrMemory is executor.ErrMemory.
	ErrMemory = executor.ErrMemory
)

// Config is what New needs. A zero number takes its default.
type Config struct {
	Model   *model.Config
	Weights *weights.Set

	Threads    int // the CPUs that the process may use
	PageSize   int // tokens of a block; 32, which is the fastest
	NumBlocks  int // an upper bound for the pool; none
	MaxSlots   int // sequences at a time; 32
	MaxTokens  int // tokens of a step; 512
	MaxContext int // tokens of a sequence; Model.MaxPosition

	// WeightSets is how many sets can be loaded at a time, 1 or 2; 1. With 2 another
	// set is packed while steps go on.
	WeightSets int

	// HostBlocks is the size of the host pool, where blocks of sequences that had
	// to give way wait for their return. 0: none.
	HostBlocks int

	MaxAdapters    int // adapters loaded at a time; 0: none
	MaxAdapterRank int // of a module of an adapter; 32

	// MemoryLimit is what the process may use in bytes; a quarter of it bounds the
	// pool, and the host pool is what the rest leaves at most. 0: New asks
	// MemoryLimit, Plan knows no bound.
	MemoryLimit int64

	// InUse is what others have of MemoryLimit, the weight set too, in bytes: it
	// bounds the host pool.
	InUse int64

	// MaxMemory is what the executor may take in bytes beside the host pool; it
	// bounds the pool. 0: no bound.
	MaxMemory int64

	// Compute is what matrix products are computed with; "": ComputeF32. A matrix whose
	// stored type is not for it is converted when it is packed.
	Compute Compute

	// Quantize is what weights stored as floats become where Compute is ComputeInt8; "":
	// QuantizeQ8. QuantizeColumn is for all matrices, however they are stored.
	Quantize Quantize

	// Stored says what tensors are stored as, which Compute and Quantize make formats of;
	// one that is not in it counts as floats. nil: New takes what Weights has. The
	// formats stay, also for sets that are loaded later and stored otherwise.
	Stored []model.Tensor

	// KVType is what keys and values are stored as; "": KVF32.
	KVType KVType

	// Attention is how attention is computed; "": Tiled.
	Attention Attention

	// Kernels names an instruction set: avx512, avx2, generic. "": what the
	// environment's CBACTOR_CPU says, else the fastest.
	Kernels string

	// Pin binds every thread to a CPU, on Linux. The goroutine that calls Finish
	// must be locked to its thread (runtime.LockOSThread) and is bound too.
	Pin bool

	// FirstCPU is the first one that Pin binds to, of those that the process may use.
	FirstCPU int

	// Profile, if set, is told where the time of steps goes.
	Profile *Profile

	// Ranks are those that compute the model together, of which Model is a part
	// (model.Config.Shard); nil: it is whole.
	Ranks Ranks

	// Tune says what New measures to choose how work is cut; the zero value: nothing.
	Tune Tune

	// KeepLogits, if set, sees the logits of every row that samples: those after
	// position pos of a slot's sequence. It is called by Finish's goroutine; the
	// slice is valid during the call.
	KeepLogits func(slot, pos int, logits []float32)
}

// Compute names what matrix products are computed with.
type Compute string

const (
	ComputeF32  Compute = "f32"  // weights and activations in float32
	ComputeBF16 Compute = "bf16" // weights in bf16, or in MXFP4 what is stored so, widened beside activations in float32
	ComputeInt8 Compute = "int8" // weights in 8 or 4 bits, activations in 8
)

// Quantize names what float weights become.
type Quantize string

const (
	QuantizeQ8     Quantize = "q8"     // 8 bits, a scale for each 32 of a row
	QuantizeQ4     Quantize = "q4"     // 4 bits, a scale and a minimum for each 32 of a row
	QuantizeColumn Quantize = "column" // 8 bits, a scale for each output; activations have one for each 256
)

// KVType names what keys and values are stored as.
type KVType string

const (
	KVF32  KVType = "f32"
	KVBF16 KVType = "bf16"
	KVInt8 KVType = "int8" // with a scale for each position and key head, of K and of V
)

// Fits tells whether heads of so many elements can be stored so: KVInt8 takes multiples of
// 4 up to kernels.MaxInt8Dim.
func (t KVType) Fits(headDim int) bool {
	return t != KVInt8 || headDim%4 == 0 && headDim <= kernels.MaxInt8Dim
}

// Attention names an implementation of attention.
type Attention string

const (
	Tiled Attention = "tiled" // by the kernels, in one pass over tiles of the cache
	Plain Attention = "plain" // by the definition, slow: to compare with
)

// processCPUs is read before anybody changes it: New does.
var processCPUs = runtime.GOMAXPROCS(0)

// maxThreads are the most that can be configured.
const maxThreads = 1024

// CPUs is how many the process may use.
func CPUs() int { return processCPUs }

// withDefaults fills in and checks what does not need the weights.
func (c Config) withDefaults() (Config, error) {
	if c.Model == nil {
		return c, fmt.Errorf("%w: Model is nil", ErrConfig)
	}
	if err := checkModel(c.Model); err != nil {
		return c, err
	}
	for _, n := range []struct {
		name     string
		value    *int
		def, top int
	}{
		{"Threads", &c.Threads, processCPUs, maxThreads},
		{"PageSize", &c.PageSize, 32, 4096},
		{"MaxSlots", &c.MaxSlots, 32, 1 << 16},
		{"MaxTokens", &c.MaxTokens, 512, 1 << 16},
		{"MaxContext", &c.MaxContext, c.Model.MaxPosition, c.Model.MaxPosition},
		{"MaxAdapterRank", &c.MaxAdapterRank, 32, 1024},
		{"WeightSets", &c.WeightSets, 1, 2},
		{"NumBlocks", &c.NumBlocks, 1<<31 - 1, 1<<31 - 1},
	} {
		if *n.value == 0 {
			*n.value = n.def
		}
		if *n.value < 1 || *n.value > n.top {
			return c, fmt.Errorf("%w: %s is %d, must be from 1 to %d", ErrConfig, n.name, *n.value, n.top)
		}
	}
	if part := c.Model.Part(); (part == nil) != (c.Ranks == nil) {
		return c, fmt.Errorf("%w: Ranks go with a Model that is a part of one", ErrConfig)
	}
	if c.Attention = cmp.Or(c.Attention, Tiled); c.Attention != Tiled && c.Attention != Plain {
		return c, fmt.Errorf("%w: Attention is %q, must be %s or %s", ErrConfig, c.Attention, Tiled, Plain)
	}
	if c.Compute = cmp.Or(c.Compute, ComputeF32); c.Compute != ComputeF32 && c.Compute != ComputeBF16 && c.Compute != ComputeInt8 {
		return c, fmt.Errorf("%w: Compute is %q, must be %s, %s or %s", ErrConfig, c.Compute, ComputeF32, ComputeBF16, ComputeInt8)
	}
	if c.Quantize = cmp.Or(c.Quantize, QuantizeQ8); c.Quantize != QuantizeQ8 && c.Quantize != QuantizeQ4 && c.Quantize != QuantizeColumn {
		return c, fmt.Errorf("%w: Quantize is %q, must be %s, %s or %s", ErrConfig, c.Quantize, QuantizeQ8, QuantizeQ4, QuantizeColumn)
	}
	switch c.KVType = cmp.Or(c.KVType, KVF32); {
	case c.KVType != KVF32 && c.KVType != KVBF16 && c.KVType != KVInt8:
		return c, fmt.Errorf("%w: KVType is %q, must be %s, %s or %s", ErrConfig, c.KVType, KVF32, KVBF16, KVInt8)
	case !c.KVType.Fits(c.Model.HeadDim):
		return c, fmt.Errorf("%w: KVType is %s, which needs heads of a multiple of 4 elements, at most %d, the model has %d; use %s",
			ErrConfig, c.KVType, kernels.MaxInt8Dim, c.Model.HeadDim, KVBF16)
	}
	if c.HostBlocks < 0 || c.HostBlocks > 1<<31-1 {
		return c, fmt.Errorf("%w: HostBlocks is %d, must be from 0 to %d", ErrConfig, c.HostBlocks, 1<<31-1)
	}
	if c.MaxAdapters < 0 || c.MaxAdapters > 1<<10 {
		return c, fmt.Errorf("%w: MaxAdapters is %d, must be from 0 to %d", ErrConfig, c.MaxAdapters, 1<<10)
	}
	if c.MemoryLimit < 0 || c.MaxMemory < 0 || c.InUse < 0 {
		return c, fmt.Errorf("%w: MemoryLimit is %d, MaxMemory %d, InUse %d: they must not be negative", ErrConfig, c.MemoryLimit, c.MaxMemory, c.InUse)
	}
	return c, nil
}

// checkModel refuses what the forward pass does not have. Everything else in a
// Config was checked by whoever parsed it.
func checkModel(m *model.Config) error {
	if len(m.Tensors()) == 0 {
		return fmt.Errorf("%w: family %q", ErrModel, m.Family)
	}
	if slices.Contains(m.Attn, model.Sliding) && m.Window < 1 {
		return fmt.Errorf("%w: sliding attention over a window of %d", ErrModel, m.Window)
	}
	if m.KVHeads < 1 || m.Heads%m.KVHeads != 0 || m.HeadDim < 2 || m.HeadDim%2 != 0 {
		return fmt.Errorf("%w: %d heads of %d elements over %d key heads", ErrModel, m.Heads, m.HeadDim, m.KVHeads)
	}
	return nil
}
