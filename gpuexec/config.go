package gpuexec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/tuning"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

var (
	// ErrConfig is the class of refused configurations.
	ErrConfig = errors.New("gpuexec: bad configuration")
	// ErrModel is the class of models that this executor cannot compute.
	ErrModel = errors.New("gpuexec: model is not supported")
	// ErrPanic is what a step fails of that panicked while it was launched.
	ErrPanic = errors.New("gpuexec: panic")
)

// MaxOutstanding is how many steps may be handed over.
const MaxOutstanding = 2

// MostSlots is how many sequences a step may have.
const MostSlots = 1 << 12

// Config is what New needs. A zero number takes its default.
type Config struct {
	Device  *cuda.Device
	Model   *model.Config
	Weights *weights.Set

	PageSize   int // tokens of a block; 16
	NumBlocks  int // an upper bound for the pool; none
	MaxSlots   int // sequences at a time; 64
	MaxTokens  int // tokens of a step; 2048
	MaxContext int // tokens of a sequence; Model.MaxPosition

	// WeightSets is how many sets can be loaded at a time, 1 or 2; 1. With 2 another set is
	// copied to the device while steps go on.
	WeightSets int

	// Stored says what tensors are stored as, and Quantize what matrices of products become that are
	// stored as floats: together they make the formats of matrices, which stay, also for sets that are
	// loaded later and stored otherwise. A tensor that is not in Stored counts as floats. nil: New takes
	// what Weights has.
	Stored   []model.Tensor
	Quantize Quantize // "": they stay floats, in bf16

	// HostBlocks is the size of the host pool, in pinned memory of the host, where blocks of
	// sequences that had to give way wait for their return. 0: none.
	HostBlocks int

	MaxAdapters    int // adapters loaded at a time; 0: none
	MaxAdapterRank int // of a module of an adapter; 32

	// MaxMemory is what the executor may take on the device, in bytes. 0: New takes DefaultShare
	// of what is free.
	MaxMemory int64

	// Graphs says which steps are captured, once for each size, and replayed: their kernels are launched by
	// one call.
	Graphs Graphs
	// QPadding is what the tokens of steps with chunks of prompts are padded to a multiple of, where they are
	// captured; 64. KVPadding is the same for the positions of the longest context of a step of few tokens,
	// whose contexts are shared by blocks of threads; 16384.
	QPadding, KVPadding int

	// Warn, if set, is told once that the driver has no memory for a graph: kernels of steps of that size
	// are launched one by one then. It must not block.
	Warn func(error)

	// Tune says what New measures, by the device's clock, to choose which of the kernels for products serves
	// which shape of matrices and number of rows; the zero value: nothing. No choice changes a bit of what is
	// computed. Classes are of up to 16, 64, 256 and more rows.
	Tune tuning.Tune

	// CublasLt, if set, computes products of more than 64 rows with matrices in bf16 of layers and the head,
	// but of experts. What a row gets depends on the batch then, in the last bits. nil: own kernels compute
	// all, and it does not.
	CublasLt *cublaslt.Library

	// KeepLogits, if set, sees the logits of every row that samples: those after position pos
	// of a slot's sequence. It is called by Finish's goroutine; the slice is valid during the
	// call. No token is drawn or scored on the device then.
	KeepLogits func(slot, pos int, logits []float32)

	// Timed, if set, is told the device's time of each step that did not fail, by Finish's goroutine.
	Timed func(Timing)
}

// Graphs says of which steps graphs are made.
type Graphs struct {
	Varlen bool // with chunks of prompts
	Decode bool // one token of each of some sequences
}

// Quantize names what float weights become.
type Quantize string

const (
	QuantizeQ8 Quantize = "q8" // 8 bits, a scale for each 32 of a row
	QuantizeQ4 Quantize = "q4" // 4 bits, a scale and a minimum for each 32 of a row
)

// DefaultShare of the free memory of a device is what New takes at most, in percent.
const DefaultShare = 90

// withDefaults fills in and checks what needs neither weights nor device.
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
		{"PageSize", &c.PageSize, 16, 4096},
		{"MaxSlots", &c.MaxSlots, 64, MostSlots},
		{"MaxTokens", &c.MaxTokens, 2048, 1 << 16},
		{"MaxContext", &c.MaxContext, c.Model.MaxPosition, c.Model.MaxPosition},
		{"WeightSets", &c.WeightSets, 1, 2},
		{"MaxAdapterRank", &c.MaxAdapterRank, 32, 1024},
		{"NumBlocks", &c.NumBlocks, 1<<31 - 1, 1<<31 - 1},
		{"QPadding", &c.QPadding, 64, 1 << 20},
		{"KVPadding", &c.KVPadding, 1 << 14, 1 << 30},
	} {
		if *n.value == 0 {
			*n.value = n.def
		}
		if *n.value < 1 || *n.value > n.top {
			return c, fmt.Errorf("%w: %s is %d, must be from 1 to %d", ErrConfig, n.name, *n.value, n.top)
		}
	}
	if c.HostBlocks < 0 || c.HostBlocks > 1<<31-1 {
		return c, fmt.Errorf("%w: HostBlocks is %d, must be from 0 to %d", ErrConfig, c.HostBlocks, 1<<31-1)
	}
	if c.MaxAdapters < 0 || c.MaxAdapters > 1<<10 {
		return c, fmt.Errorf("%w: MaxAdapters is %d, must be from 0 to %d", ErrConfig, c.MaxAdapters, 1<<10)
	}
	if c.Quantize != "" && c.Quantize != QuantizeQ8 && c.Quantize != QuantizeQ4 {
		return c, fmt.Errorf("%w: Quantize is %q, must be %s, %s or nothing", ErrConfig, c.Quantize, QuantizeQ8, QuantizeQ4)
	}
	if c.MaxMemory < 0 {
		return c, fmt.Errorf("%w: MaxMemory is %d, must not be negative", ErrConfig, c.MaxMemory)
	}
	return c, nil
}

// checkModel refuses what the forward pass does not have. Everything else in a model.Config was
// checked by whoever parsed it.
func checkModel(m *model.Config) error {
	if len(m.Tensors()) == 0 {
		return fmt.Errorf("%w: family %q", ErrModel, m.Family)
	}
	if p := m.Part(); p != nil {
		return fmt.Errorf("%w: it is the part of rank %d of %d, and ranks do not compute here; give the whole model", ErrModel, p.Rank, p.Of)
	}
	if slices.Contains(m.Attn, model.Sliding) && m.Window < 1 {
		return fmt.Errorf("%w: sliding attention over a window of %d", ErrModel, m.Window)
	}
	if m.KVHeads < 1 || m.Heads%m.KVHeads != 0 || m.HeadDim < 2 || m.HeadDim%2 != 0 || m.HeadDim > kernels.MaxDim {
		return fmt.Errorf("%w: %d heads of %d elements over %d key heads; a head must have an even number of at most %d",
			ErrModel, m.Heads, m.HeadDim, m.KVHeads, kernels.MaxDim)
	}
	if m.MoE != nil && m.MoE.Experts > kernels.MaxExperts {
		return fmt.Errorf("%w: %d experts in a layer, at most %d", ErrModel, m.MoE.Experts, kernels.MaxExperts)
	}
	return nil
}

// checkSet makes sure that there is a set, which has the model's tensors.
func checkSet(m *model.Config, set *weights.Set) error {
	if set == nil {
		return fmt.Errorf("%w: Weights is nil", ErrConfig)
	}
	if err := set.Fits(m); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

var _ executor.Loader = (*Executor)(nil)
