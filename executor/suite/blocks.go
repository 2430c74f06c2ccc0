package suite

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// gone stands in a table for a block that has left it, behind its group's window.
const gone int32 = -1

// blocks are the free blocks of an executor's cache groups. Those that share memory open
// a sector when they have none left, and keep it.
type blocks struct {
	t       *testing.T
	info    executor.Info
	free    [][]int32 // per group
	sectors []int32
}

func newBlocks(t *testing.T, info executor.Info) *blocks {
	b := &blocks{t: t, info: info, free: make([][]int32, len(info.Groups)), sectors: ascending(info.Sectors)}
	for g := range b.free {
		if info.Sectors == 0 {
			b.free[g] = ascending(info.Groups[g].Blocks)
		}
	}
	return b
}

// ascending are the numbers from 0 to before n.
func ascending(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// shuffle changes the order in which blocks are handed out.
func (b *blocks) shuffle(r *rand.Rand) {
	for _, list := range append(b.free, b.sectors) {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
}

// take hands out n blocks of group g.
func (b *blocks) take(g, n int) []int32 {
	b.t.Helper()
	for per := b.info.Groups[g].PerSector; len(b.free[g]) < n; b.sectors = b.sectors[1:] {
		if len(b.sectors) == 0 {
			b.t.Fatalf("group %d has %d free blocks, %d are needed", g, len(b.free[g]), n)
		}
		for i := range per {
			b.free[g] = append(b.free[g], b.sectors[0]*int32(per)+int32(i))
		}
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
