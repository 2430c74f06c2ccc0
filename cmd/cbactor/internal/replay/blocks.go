package replay

import "github.com/cbactor/cbactor/executor"

// blocks are the free blocks of an executor's cache groups. Those that share memory open
// a sector when they have none left; it is nobody's again when no sequence is there.
type blocks struct {
	info    executor.Info
	free    [][]int32 // per group
	sectors int       // that are opened
}

func newBlocks(info executor.Info) *blocks {
	b := &blocks{info: info, free: make([][]int32, len(info.Groups))}
	b.reset()
	return b
}

// reset makes all blocks free ones.
func (b *blocks) reset() {
	b.sectors = 0
	for g, group := range b.info.Groups {
		b.free[g] = b.free[g][:0]
		if b.info.Sectors == 0 {
			b.add(g, 0, group.Blocks)
		}
	}
}

func (b *blocks) add(g, from, to int) {
	for i := from; i < to; i++ {
		b.free[g] = append(b.free[g], int32(i))
	}
}

// holds is how many blocks of group g a sequence of so many tokens needs: one with a
// window writes again over what lies behind it.
func (b *blocks) holds(g, tokens int) int {
	if w := b.info.Groups[g].Window; w > 0 {
		tokens = min(tokens, w+b.info.MaxTokens+b.info.PageSize)
	}
	return (tokens + b.info.PageSize - 1) / b.info.PageSize
}

// fits tells whether a sequence of so many tokens can be there alone.
func (b *blocks) fits(tokens int) bool {
	sectors := 0
	for g, group := range b.info.Groups {
		n := b.holds(g, tokens)
		if n > group.Blocks {
			return false
		}
		if b.info.Sectors > 0 {
			sectors += (n + group.PerSector - 1) / group.PerSector
		}
	}
	return sectors <= b.info.Sectors
}

// take is blocks of every group for a sequence of so many tokens; nil: there are too few.
func (b *blocks) take(tokens int) [][]int32 {
	var some [][]int32
	for g := range b.info.Groups {
		n := b.holds(g, tokens)
		for per := b.info.Groups[g].PerSector; len(b.free[g]) < n && b.sectors < b.info.Sectors; b.sectors++ {
			b.add(g, b.sectors*per, (b.sectors+1)*per)
		}
		at := len(b.free[g]) - n
		if at < 0 {
			b.give(some)
			return nil
		}
		some = append(some, append([]int32(nil), b.free[g][at:]...))
		b.free[g] = b.free[g][:at]
	}
	return some
}

// give takes back what take has given.
func (b *blocks) give(some [][]int32) {
	for g, list := range some {
		b.free[g] = append(b.free[g], list...)
	}
}

// table is a group's block table of a sequence of so many tokens, over its blocks.
func (b *blocks) table(some []int32, tokens int) []int32 {
	table := make([]int32, (tokens+b.info.PageSize-1)/b.info.PageSize)
	for i := range table {
		table[i] = some[i%len(some)]
	}
	return table
}
