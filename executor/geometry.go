package executor

import "sort"

// Geometry is how a cache of several kinds of attention (groups) lies in one piece
// of memory. A page is PageSize tokens of one layer; a block is a page for every
// layer of its group; a sector is the unit that the groups take memory in, and
// holds a whole number of blocks of each. An executor whose groups share memory has
// so many Sectors and PerSector blocks of each in its Info.
type Geometry struct {
	PageSize  int   // tokens of a page
	PageBytes int64 // K and V of a page: 2 · KV heads · head size · bytes of an element · PageSize
	Layers    []int // per group
}

// sectorAlign is what a sector's size is a multiple of, in bytes.
const sectorAlign = 128

// BlockBytes is the size of a block of group g.
func (c Geometry) BlockBytes(g int) int64 { return c.PageBytes * int64(c.Layers[g]) }

// SectorBytes is the least common multiple of all block sizes and of 128.
func (c Geometry) SectorBytes() int64 {
	s := int64(sectorAlign)
	for g := range c.Layers {
		s = lcm(s, c.BlockBytes(g))
	}
	return s
}

// PerSector is how many blocks of group g a sector holds.
func (c Geometry) PerSector(g int) int { return int(c.SectorBytes() / c.BlockBytes(g)) }

// SectorTokens is how many tokens a sector holds in the group of the smallest blocks.
func (c Geometry) SectorTokens() int {
	most := 0
	for g := range c.Layers {
		most = max(most, c.PerSector(g)*c.PageSize)
	}
	return most
}

// MinSectors is how many sectors have the bytes of so many blocks over all layers, as users
// give them: every group has as many at the same time only where Sectors says so. At least 1.
func (c Geometry) MinSectors(blocks int) int {
	return max(1, int((c.wholeBlock()*int64(blocks)+c.SectorBytes()-1)/c.SectorBytes()))
}

// WholeBlocks is how many blocks over all layers fit into sectors.
func (c Geometry) WholeBlocks(sectors int) int {
	return int(c.SectorBytes() * int64(sectors) / c.wholeBlock())
}

// Sectors is how many sectors give every group so many blocks at the same time.
func (c Geometry) Sectors(blocks int) int { return sectorsOf(len(c.Layers), c.PerSector, blocks) }

// Blocks is the most blocks that so many sectors give every group at the same time.
func (c Geometry) Blocks(sectors int) int { return blocksOf(len(c.Layers), c.PerSector, sectors) }

// CacheBlocks is the most blocks that every group of an empty cache can have at the same time.
func (i Info) CacheBlocks() int {
	if i.Sectors > 0 {
		return blocksOf(len(i.Groups), func(g int) int { return i.Groups[g].PerSector }, i.Sectors)
	}
	least := i.Groups[0].Blocks
	for _, g := range i.Groups {
		least = min(least, g.Blocks)
	}
	return least
}

// sectorsOf is how many sectors so many blocks of each of a number of groups take, where a
// sector has perSector(g) of group g.
func sectorsOf(groups int, perSector func(g int) int, blocks int) (sectors int) {
	for g := range groups {
		per := perSector(g)
		sectors += (blocks + per - 1) / per
	}
	return sectors
}

// blocksOf is the most blocks that all groups find in so many sectors.
func blocksOf(groups int, perSector func(g int) int, sectors int) int {
	most := 0
	for g := range groups {
		most = max(most, sectors*perSector(g))
	}
	return sort.Search(most, func(n int) bool { return sectorsOf(groups, perSector, n+1) > sectors })
}

// wholeBlock is the size of a page of every layer of every group.
func (c Geometry) wholeBlock() int64 {
	layers := 0
	for _, n := range c.Layers {
		layers += n
	}
	return c.PageBytes * int64(layers)
}

func lcm(a, b int64) int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}
