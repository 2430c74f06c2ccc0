package executor

import (
	"fmt"
	"math"
)

// Pool is the memory of a cache, in blocks, or in sectors where groups share it.
type Pool struct {
	Blocks     int   // with Sectors, as many as every group can have at the same time
	Sectors    int   // that the groups of a model with two kinds of attention share; 0: it has one
	Bound      Bound // what keeps it from having more
	BlockBytes int64 // K and V of PageSize tokens in all layers
	LeastPool  int64 // the size of the smallest pool: of a block, or with several kinds of attention of a sector for each

	PageSize int              // tokens of a block
	Groups   [MaxGroups]Group // one for each kind of attention that the model has; without blocks: there is none
}

// Bound is what decides the size of a pool.
type Bound string

const (
	ByNumBlocks Bound = "NumBlocks"
	ByUse       Bound = "what MaxSlots sequences of MaxContext tokens can use"
	ByQuarter   Bound = "a quarter of MemoryLimit"
	ByMaxMemory Bound = "MaxMemory"
)

// PoolConfig is what the size of a pool follows from.
type PoolConfig struct {
	Division  Division
	PageSize  int   // tokens
	PageBytes int64 // K and V of a page of one layer

	MaxSlots, MaxTokens, MaxContext, MaxOutstanding int // as Info has them

	NumBlocks  int // an upper bound of blocks
	HostBlocks int // of the host pool
	Bounds     []PoolBound
}

// PoolBound is an upper bound in bytes.
type PoolBound struct {
	By    Bound
	Bytes int64
}

// SizePool makes the pool the smallest of NumBlocks, of what MaxSlots sequences of MaxContext
// tokens can use (with a window, of what that holds beside the steps that are handed over), and
// of Bounds, and says how many bytes it takes. Without Blocks not even the smallest fits.
func SizePool(c PoolConfig) (p Pool, bytes int64) {
	geometry, groups := c.geometry(), len(c.Division.Layers)
	unit, shared := geometry.BlockBytes(0), groups > 1
	n, wanted := int64(math.MaxInt32), int64(c.NumBlocks)
	if shared {
		unit = geometry.SectorBytes()
		n, wanted = n*c.PageBytes/unit, int64(geometry.Sectors(c.NumBlocks)) // so that blocks have numbers
	}
	p = Pool{PageSize: c.PageSize, BlockBytes: geometry.wholeBlock(), LeastPool: unit * int64(groups), Bound: ByNumBlocks}
	lower := func(most int64, by Bound) {
		if most < n {
			n, p.Bound = most, by
		}
	}
	lower(wanted, ByNumBlocks)
	lower(c.use(geometry), ByUse)
	for _, b := range c.Bounds {
		lower(max(0, b.Bytes)/unit, b.By)
	}
	p.Blocks = int(n)
	if shared { // no more than as many blocks as every group has take
		p.Blocks = geometry.Blocks(int(n))
		p.Sectors = geometry.Sectors(p.Blocks)
		n = int64(p.Sectors)
	}
	for g := range groups {
		p.Groups[g] = Group{Blocks: int(n), Host: c.HostBlocks, Window: c.Division.Windows[g]}
		if shared {
			p.Groups[g].PerSector = geometry.PerSector(g)
			p.Groups[g].Blocks *= p.Groups[g].PerSector
		}
	}
	return p, n * unit
}

// geometry is what groups that share memory do so by.
func (c *PoolConfig) geometry() Geometry {
	return Geometry{PageSize: c.PageSize, PageBytes: c.PageBytes, Layers: c.Division.Layers}
}

// use is how many blocks, or sectors, MaxSlots sequences of MaxContext tokens can have use
// for. A sequence that is alone may spread what its window holds over as many sectors.
func (c *PoolConfig) use(geometry Geometry) (sum int64) {
	pages := func(tokens int) int { return (tokens + c.PageSize - 1) / c.PageSize }
	groups := len(c.Division.Layers)
	for g, window := range c.Division.Windows {
		n := pages(c.MaxContext)
		held := n
		if window > 0 {
			held = min(n, pages(window+c.MaxOutstanding*c.MaxTokens)+1)
		}
		all := int64(c.MaxSlots) * int64(held)
		if groups > 1 {
			per := int64(geometry.PerSector(g))
			if all = (all + per - 1) / per; held < n {
				all = max(all, int64(held))
			}
		}
		sum += all
	}
	return sum + int64(groups-1) // which SizePool may leave out
}

// Smallest says what the smallest pool takes.
func (p Pool) Smallest() string {
	if p.LeastPool == p.BlockBytes {
		return fmt.Sprintf("a block of %d tokens takes %d", p.PageSize, p.BlockBytes)
	}
	return fmt.Sprintf("the sectors of the cache that each kind of attention needs one of, for blocks of %d tokens, take %d", p.PageSize, p.LeastPool)
}

// Cache is what the executor's Info says of the cache: PageSize, Groups and Sectors.
func (p Pool) Cache() Info {
	info := Info{PageSize: p.PageSize, Sectors: p.Sectors}
	for _, g := range p.Groups {
		if g.Blocks > 0 {
			info.Groups = append(info.Groups, g)
		}
	}
	return info
}
