package gpuexec

import (
	"fmt"
	"math"

	"github.com/cbactor/cbactor/executor"
)

// Memory is what an executor takes, in bytes: on the device, but for Host and Pinned.
type Memory struct {
	Blocks     int   // of the pool; with Sectors, as many as every group can have at the same time
	Sectors    int   // that the groups of a model with two kinds of attention share; 0: it has one
	Bound      Bound // what keeps it from having more
	BlockBytes int64 // K and V of PageSize tokens in all layers

	Weights  int64 // a set
	NextSet  int64 // the same for another one
	Adapters int64 // places for adapters
	KV       int64 // the pool
	Work     int64 // buffers of a step, block tables, angles of all positions
	Host     int64 // the host pool, in pinned memory
	Pinned   int64 // what steps send and receive, and what weights are copied through

	PageSize int                       // tokens of a block
	Groups   [maxGroups]executor.Group // one for each kind of attention that the model has; without blocks: there is none
}

// Device is the sum of what lies on the device.
func (m Memory) Device() int64 { return m.Weights + m.NextSet + m.Adapters + m.KV + m.Work }

// Bound is what decides the size of a pool.
type Bound string

const (
	ByNumBlocks Bound = "NumBlocks"
	ByUse       Bound = "what MaxSlots sequences of MaxContext tokens can use"
	ByMaxMemory Bound = "MaxMemory"
)

// Plan computes what New will take for cfg, whose Weights are not looked at and whose MaxMemory
// must be given. The pool is the smallest of NumBlocks, of what MaxSlots sequences of MaxContext
// tokens can use, and of what MaxMemory leaves beside weights and work:
//
//	BlockBytes = 4 * layers * key heads * padded head size * PageSize: K and V in bf16
//	Weights    = 2 * numbers of matrices, rows padded to 32, + 4 * those of norms, biases, sinks and routers
//	NextSet    = Weights * (WeightSets-1)
//	Adapters   = 2 * MaxAdapters * padded rank * (for each product of a layer with weights of its own:
//	             its modules * padded inputs + outputs)
//	Work       = the buffers of work.go; of T tokens, in bf16 but for the residual stream and what
//	             products give
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
	m := Memory{PageSize: c.PageSize, BlockBytes: l.blockBytes(), Pinned: int64(c.pinnedBytes(len(l.groups)))}
	_, _, m.Weights = layParameters(c.Model, 0)
	m.NextSet = int64(c.WeightSets-1) * m.Weights
	m.Adapters = 2 * int64(c.MaxAdapters) * int64(d.adapters.place())
	_, m.Work = layWork(c, &d, len(l.groups), 0)
	if err := m.sizePool(c, &l); err != nil {
		return m, err
	}
	m.Host = int64(c.HostBlocks) * m.BlockBytes
	return m, nil
}

// sizePool decides how many blocks the pool has, beside what else m says is taken. Where groups
// share memory it is divided into sectors, else into blocks.
func (m *Memory) sizePool(c *Config, l *layout) error {
	unit, shared := int64(l.groups[0].block), len(l.groups) > 1
	geometry := l.geometry()
	n, wanted := int64(math.MaxInt32), int64(c.NumBlocks)
	if shared {
		unit = geometry.SectorBytes()
		n, wanted = n*int64(l.page)/unit, int64(geometry.Sectors(c.NumBlocks)) // so that blocks have numbers
	}
	lower := func(most int64, by Bound) {
		if most < n {
			n, m.Bound = most, by
		}
	}
	lower(wanted, ByNumBlocks)
	lower(c.use(l), ByUse)
	lower((c.MaxMemory-m.Device())/unit, ByMaxMemory)
	m.Blocks = int(n)
	if shared { // no more than as many blocks as every group has take
		m.Blocks = geometry.Blocks(int(n))
		m.Sectors = geometry.Sectors(m.Blocks)
		n = int64(m.Sectors)
	}
	if m.Blocks < 1 {
		return fmt.Errorf("%w: weights and work take %d bytes of the device and a block of %d tokens %d, of %d that may be used; allow more, use fewer tokens a step or a smaller model",
			executor.ErrMemory, m.Device(), c.PageSize, unit*int64(len(l.groups)), c.MaxMemory)
	}
	m.KV = n * unit
	for i := range l.groups {
		m.Groups[i] = executor.Group{Blocks: int(n), Host: c.HostBlocks, Window: l.groups[i].window}
		if shared {
			m.Groups[i].PerSector = geometry.PerSector(i)
			m.Groups[i].Blocks *= m.Groups[i].PerSector
		}
	}
	return nil
}

// use is how many blocks, or sectors, MaxSlots sequences of MaxContext tokens can have use for. A
// sequence that is alone may spread what its window holds over as many sectors.
func (c *Config) use(l *layout) int64 {
	sum := int64(0)
	for g := range l.groups {
		n := pages(c.MaxContext, c.PageSize)
		held := n
		if w := l.groups[g].window; w > 0 {
			held = min(n, pages(w+MaxOutstanding*c.MaxTokens, c.PageSize)+1)
		}
		all := int64(c.MaxSlots) * int64(held)
		if len(l.groups) > 1 {
			per := int64(l.geometry().PerSector(g))
			if all = (all + per - 1) / per; held < n {
				all = max(all, int64(held))
			}
		}
		sum += all
	}
	return sum + int64(len(l.groups)-1) // which sizePool may leave out
}

// Cache is what the executor's Info says of the cache: PageSize, Groups and Sectors.
func (m Memory) Cache() executor.Info {
	info := executor.Info{PageSize: m.PageSize, Sectors: m.Sectors}
	for _, g := range m.Groups {
		if g.Blocks > 0 {
			info.Groups = append(info.Groups, g)
		}
	}
	return info
}
