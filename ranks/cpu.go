package ranks

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/cbactor/cbactor/cpuexec"
)

// CPU is ranks in this process that compute on CPUs.
type CPU struct {
	Config  cpuexec.Config // of all together: Threads are divided, and so is memory. A rank has one thread at least
	Ranks   int
	Timeout time.Duration // that a rank waits for another one
}

// ErrCache means that ranks would lay their caches out differently.
var ErrCache = errors.New("ranks divide the cache differently")

// Name is what the executor has as its name. Errors are those of cpuexec.Config.Name.
func (c CPU) Name() (string, error) {
	name, err := c.Config.Name()
	return named(name, c.Ranks), err
}

func named(name string, ranks int) string { return fmt.Sprintf("%s, %d ranks", name, ranks) }

// parts are the configurations of the ranks, but for Ranks, and what each takes. Their pools
// have as many blocks each.
func (c *CPU) parts() ([]cpuexec.Config, []cpuexec.Memory, error) {
	if c.Config.Stored == nil && c.Config.Weights != nil {
		for t := range c.Config.Weights.All() {
			c.Config.Stored = append(c.Config.Stored, t.Tensor)
		}
	}
	list, memory := make([]cpuexec.Config, c.Ranks), make([]cpuexec.Memory, c.Ranks)
	blocks := c.Config.NumBlocks
	for again := range 2 {
		for rank := range list {
			part := &list[rank]
			*part = c.Config
			var err error
			if part.Model, err = c.Config.Model.Shard(rank, c.Ranks, c.Config.Stored); err != nil {
				return nil, nil, err
			}
			part.Ranks, part.NumBlocks = planned{}, blocks
			part.Threads = max(1, c.Config.Threads/c.Ranks)
			if part.FirstCPU = rank * part.Threads; rank > 0 {
				part.Profile = nil // it is the first one's
			}
			part.MaxMemory, part.MemoryLimit, part.InUse = c.Config.MaxMemory/int64(c.Ranks), c.Config.MemoryLimit/int64(c.Ranks), c.Config.InUse/int64(c.Ranks)
			if memory[rank], err = cpuexec.Plan(*part); err != nil {
				return nil, nil, fmt.Errorf("rank %d: %w", rank, err)
			}
		}
		if again > 0 {
			break
		}
		for i := range memory {
			if n := memory[i].Blocks; blocks == 0 || n < blocks {
				blocks = n
			}
		}
	}
	return list, memory, nil
}

// planned stands for ranks that are to come.
type planned struct{}

func (planned) Room() []float32               { return nil }
func (planned) Show(int) ([][]float32, error) { return nil, errors.ErrUnsupported }

// Plan computes what New takes for all ranks together, with what they show each other in Work. The
// pool has the blocks that each rank has, whose bytes are those of all. Errors are those of
// cpuexec.Plan and of model.Config.Shard, and ErrCache.
func (c CPU) Plan() (cpuexec.Memory, error) {
	list, memory, err := c.parts()
	if err != nil {
		return cpuexec.Memory{}, err
	}
	floats, err := list[0].ExchangeFloats()
	if err != nil {
		return cpuexec.Memory{}, err
	}
	all := memory[0]
	all.Work += exchangeBytes(c.Ranks, floats)
	for _, m := range memory[1:] {
		if m.Groups != all.Groups || m.Sectors != all.Sectors {
			return all, fmt.Errorf("%w: take another page size", ErrCache)
		}
		all.BlockBytes += m.BlockBytes
		all.LeastPool += m.LeastPool
		all.Weights += m.Weights
		all.NextSet += m.NextSet
		all.KV += m.KV
		all.Host += m.Host
		all.Slots += m.Slots
		all.Work += m.Work
		all.Sampling += m.Sampling
		all.Adapters += m.Adapters
	}
	return all, nil
}

// New starts the ranks.
func (c CPU) New() (*Executor, error) {
	list, _, err := c.parts()
	if err != nil {
		return nil, err
	}
	if _, err := c.Plan(); err != nil {
		return nil, err
	}
	floats, err := list[0].ExchangeFloats()
	if err != nil {
		return nil, err
	}
	x := NewExchange(c.Ranks, floats, c.Timeout)
	var parts []Part
	for rank := range list {
		list[rank].Ranks = x.Member(rank)
		ex, err := cpuexec.New(list[rank])
		if err != nil {
			for _, p := range parts {
				err = errors.Join(err, p.Close())
			}
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
		parts = append(parts, ex)
	}
	if all := c.Ranks*list[0].Threads + 2; os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < all {
		runtime.GOMAXPROCS(all) // as cpuexec.New does for one
	}
	return New(parts, c.Timeout, func(err error) { x.Break(0, err) }), nil
}

var _ Part = (*cpuexec.Executor)(nil)
