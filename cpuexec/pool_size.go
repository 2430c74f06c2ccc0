package cpuexec

import (
	"fmt"
	"math"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
)

// Bound is what decides the size of a pool.
type Bound string

const (
	ByNumBlocks Bound = "NumBlocks"
	ByUse       Bound = "what MaxSlots sequences of MaxContext tokens can use"
	ByQuarter   Bound = "a quarter of MemoryLimit"
	ByMaxMemory Bound = "MaxMemory"
)

// sizePool decides how many blocks the pool has, beside what else m says is taken. Where
// groups share memory it is divided into sectors, else into blocks.
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
	m.LeastPool = unit * int64(len(l.groups))
	m.Bound = ByNumBlocks
	lower(wanted, ByNumBlocks)
	lower(c.use(l), ByUse)
	if c.MemoryLimit > 0 {
		lower(c.MemoryLimit/4/unit, ByQuarter)
	}
	if c.MaxMemory > 0 {
		lower((c.MaxMemory-m.Total()-poolBytes(0, 0))/unit, ByMaxMemory)
	}
	m.Blocks = int(n)
	if shared { // no more than as many blocks as every group has take
		m.Blocks = geometry.Blocks(int(n))
		m.Sectors = geometry.Sectors(m.Blocks)
		n = int64(m.Sectors)
	}
	if m.Blocks < 1 {
		return c.noBlock(m)
	}
	m.KV = poolBytes(n, unit)
	for i := range l.groups {
		m.Groups[i] = executor.Group{Blocks: int(n), Host: c.HostBlocks}
		if w := l.groups[i].window; w < c.MaxContext {
			m.Groups[i].Window = w
		}
		if shared {
			m.Groups[i].PerSector = geometry.PerSector(i)
			m.Groups[i].Blocks *= m.Groups[i].PerSector
		}
	}
	return nil
}

// use is how many blocks, or sectors, MaxSlots sequences of MaxContext tokens can have use
// for. A sequence that is alone may spread what its window holds over as many sectors.
func (c *Config) use(l *layout) int64 {
	sum := int64(0)
	for g := range l.groups {
		n := pages(c.MaxContext, c.PageSize)
		held := min(n, pages(l.groups[g].window+MaxOutstanding*c.MaxTokens, c.PageSize)+1)
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

// noBlock says why the pool of m has none.
func (c *Config) noBlock(m *Memory) error {
	if m.Bound == ByQuarter {
		return fmt.Errorf("%w: %s, a quarter of the limit is %d; use a smaller page size", ErrMemory, m.Smallest(), c.MemoryLimit/4)
	}
	return fmt.Errorf("%w: weights and work take %d bytes and %s, of %d that may be used; allow more, or use fewer tokens a step",
		ErrMemory, m.Total(), m.Smallest(), c.MaxMemory)
}

// Smallest says what the smallest pool takes.
func (m Memory) Smallest() string {
	if m.LeastPool == m.BlockBytes {
		return fmt.Sprintf("a block of %d tokens takes %d", m.PageSize, m.BlockBytes)
	}
	return fmt.Sprintf("the sectors of the cache that each kind of attention needs one of, for blocks of %d tokens, take %d", m.PageSize, m.LeastPool)
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

// readBehind is how far behind a page attention may read, since it reads whole tiles: of
// rows of K in float32, of 4 rows at a time in int8, of scales.
const readBehind = 4 * kernels.Tile

// poolBytes is the size of a pool, which something follows that may be read.
func poolBytes(n, unit int64) int64 { return lineBytes(n*unit + readBehind) }

// hostBytes is the size of the host pool, which shares the limit with all that m has
// and with what others use.
func (c *Config) hostBytes(m *Memory) (int64, error) {
	taken := c.InUse + m.Total()
	if most := max(0, c.MemoryLimit-taken) / m.BlockBytes; c.MemoryLimit > 0 && int64(c.HostBlocks) > most {
		return 0, fmt.Errorf("%w: a host pool of %d blocks of %d bytes, where %d of %d bytes are taken; use at most %d blocks",
			ErrMemory, c.HostBlocks, m.BlockBytes, taken, c.MemoryLimit, most)
	}
	return lineBytes(int64(c.HostBlocks) * m.BlockBytes), nil
}
