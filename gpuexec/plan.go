package gpuexec

import (
	"fmt"

	"github.com/cbactor/cbactor/executor"
)

// Memory is what an executor takes, in bytes: on the device, but for Host and Pinned.
type Memory struct {
	executor.Pool

	Weights  int64 // a set
	NextSet  int64 // the same for another one
	Adapters int64 // places for adapters
	KV       int64 // the pool
	Work     int64 // buffers of a step, block tables, ids of all sequences, angles of all positions
	Staging  int64 // blocks on their way to the host pool
	Graphs   int64 // left to the driver, for graphs
	Host     int64 // the host pool, in pinned memory
	Pinned   int64 // what steps send and receive, and what weights are copied through
	Shapes   int   // of steps whose graphs are kept
}

// Device is the sum of what lies on the device.
func (m Memory) Device() int64 {
	return m.Weights + m.NextSet + m.Adapters + m.KV + m.Work + m.Staging + m.Graphs
}

// Plan computes what New will take for cfg, whose Weights are not looked at and whose MaxMemory
// must be given. The pool is the smallest of NumBlocks, of what MaxSlots sequences of MaxContext
// tokens can use, and of what MaxMemory leaves beside weights and work:
//
//	BlockBytes = 4 * layers * key heads * padded head size * PageSize: K and V in bf16
//	Weights    = 2 bytes a number of matrices, rows padded to 32, or of 32 numbers 34 in Q8 and 20 in Q4,
//	             which have a multiple of 32 rows, + 4 a number of norms, biases, sinks and routers
//	NextSet    = Weights * (WeightSets-1)
//	Adapters   = 2 * MaxAdapters * padded rank * (for each product of a layer with weights of its own:
//	             its modules * padded inputs + outputs)
//	Work       = the buffers of work.go; of T tokens, in bf16 but for the residual stream and what
//	             products give; of the ids of all sequences; with CublasLt its workspace, and what it
//	             gives of gate and up
//	Staging    = 2 * as many of the largest blocks as the host pool has, or half of 128 MiB, or of a 32nd of
//	             MaxMemory, holds
//	Graphs     = 4096 * 2 * (12 * layers, with adapters 20, + 3 + 5 * passes of the head) * Shapes, which are
//	             64, or as many as a 16th of MaxMemory has room for, but two at least. A step has as many
//	             passes as its draws, padded, have pieces of 256. What a graph takes the driver does not say:
//	             4096 bytes for a kernel is an allowance
//	Host       = BlockBytes * HostBlocks
//
// with every part rounded up to 256 bytes. Errors wrap ErrConfig, ErrModel or executor.ErrMemory.
func Plan(cfg Config) (Memory, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Memory{}, err
	}
	if cfg.MaxMemory == 0 {
		return Memory{}, fmt.Errorf("%w: Plan needs MaxMemory", ErrConfig)
	}
	return cfg.plan()
}

// plan is Plan for a Config that has its defaults.
func (c *Config) plan() (Memory, error) {
	d, l := dimsOf(c), layoutOf(c)
	m := Memory{Pinned: int64(c.pinnedBytes(len(l.groups)))}
	_, _, m.Weights = layParameters(c, 0)
	m.NextSet = int64(c.WeightSets-1) * m.Weights
	m.Adapters = 2 * int64(c.MaxAdapters) * int64(d.adapters.place())
	_, m.Work = layWork(c, &d, len(l.groups), 0)
	places, place := stagingPlaces(c, &l)
	m.Staging = 2 * int64(places) * int64(place)
	m.sizeGraphs(c, &d)
	if err := m.sizePool(c, &l); err != nil {
		return m, err
	}
	m.Host = int64(c.HostBlocks) * m.BlockBytes
	return m, nil
}

// sizePool decides how big the pool is, beside what else m says is taken.
func (m *Memory) sizePool(c *Config, l *layout) error {
	m.Pool, m.KV = executor.SizePool(executor.PoolConfig{
		Division: l.division, PageSize: c.PageSize, PageBytes: int64(l.page),
		MaxSlots: c.MaxSlots, MaxTokens: c.MaxTokens, MaxContext: c.MaxContext, MaxOutstanding: MaxOutstanding,
		NumBlocks: c.NumBlocks, HostBlocks: c.HostBlocks,
		Bounds: []executor.PoolBound{{By: executor.ByMaxMemory, Bytes: c.MaxMemory - m.Device()}},
	})
	if m.Blocks < 1 {
		return fmt.Errorf("%w: weights and work take %d bytes of the device and %s, of %d that may be used; allow more, use fewer tokens a step or a smaller model",
			executor.ErrMemory, m.Device(), m.Smallest(), c.MaxMemory)
	}
	return nil
}
