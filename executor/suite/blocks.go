package suite

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// gone stands in a table for a block that has left it, behind its group's window.
const gone int32 = -1

// blocks are the free blocks of an executor's cache groups. Of memory that they share,
// each sector is for good that of the group that had the fewest blocks.
type blocks struct {
	t    *testing.T
	info executor.Info
	free [][]int32 // per group
}

func newBlocks(t *testing.T, info executor.Info) *blocks {
	b := &blocks{t: t, info: info, free: make([][]int32, len(info.Groups))}
	for g := range b.free {
		if info.Sectors == 0 {
			b.add(g, 0, info.Groups[g].Blocks)
		}
	}
	for s := range info.Sectors {
		fewest := 0
		for g := range b.free {
			if len(b.free[g]) < len(b.free[fewest]) {
				fewest = g
			}
		}
		per := info.Groups[fewest].PerSector
		b.add(fewest, s*per, (s+1)*per)
	}
	return b
}

// add gives group g its blocks from a number up to before another one.
func (b *blocks) add(g, from, to int) {
	for i := from; i < to; i++ {
		b.free[g] = append(b.free[g], int32(i))
	}
}

// shuffle changes the order in which blocks are handed out.
func (b *blocks) shuffle(r *rand.Rand) {
	for _, list := range b.free {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
}

// take hands out n blocks of group g.
func (b *blocks) take(g, n int) []int32 {
	b.t.Helper()
	if n > len(b.free[g]) {
		b.t.Fatalf("group %d has %d free blocks, %d are needed", g, len(b.free[g]), n)
	}
	some := b.free[g][:n:n]
	b.free[g] = b.free[g][n:]
	return some
}

// give takes blocks back, the last to be handed out again.
func (b *blocks) give(g int, some []int32) { b.free[g] = append(b.free[g], present(some)...) }

// giveFirst takes blocks back, the next to be handed out.
func (b *blocks) giveFirst(g int, some []int32) {
	b.free[g] = slices.Concat(present(some), b.free[g])
}

// present are the blocks that have not left a table.
func present(table []int32) []int32 {
	n := 0
	for n < len(table) && table[n] == gone {
		n++
	}
	return table[n:]
}

// behind is how many blocks of a table of group g no position from p on attends to.
func (b *blocks) behind(g, p int) int {
	window := b.info.Groups[g].Window
	if window == 0 {
		return 0
	}
	return max(0, p-window+1) / b.info.PageSize
}
