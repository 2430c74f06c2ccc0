package replay

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// TestBlocksOfGroups: what is handed out is nobody else's, a window's table goes round over
// as many blocks as it needs at a time, and when all is given back the largest fits again.
func TestBlocksOfGroups(t *testing.T) {
	b := newBlocks(executor.Info{PageSize: 4, MaxTokens: 8, Sectors: 12,
		Groups: []executor.Group{{Blocks: 24, PerSector: 2}, {Blocks: 12, PerSector: 1, Window: 5}}})
	const longest = 4 * 14 // 7 sectors, and 5 of the window
	if !b.fits(longest) || b.fits(longest+1) {
		t.Fatalf("%d tokens fit: %v, one more: %v", longest, b.fits(longest), b.fits(longest+1))
	}
	one, two := b.take(20), b.take(8)
	if two == nil || len(one[0]) != 5 || len(one[1]) != 5 {
		t.Fatalf("20 tokens have %v, 8 then %v", one, two)
	}
	for g, per := range []int32{2, 1} {
		for _, x := range slices.Concat(one[g], two[g]) {
			for _, y := range slices.Concat(one[1-g], two[1-g]) {
				if x/per == y/(3-per) {
					t.Errorf("blocks %d and %d of both groups are in one sector", x, y)
				}
			}
		}
		if slices.ContainsFunc(one[g], func(x int32) bool { return slices.Contains(two[g], x) }) {
			t.Errorf("group %d: %v and %v", g, one[g], two[g])
		}
	}
	table := b.table(one[1], longest)
	if len(table) != 14 || table[0] != table[5] || table[1] == table[5] {
		t.Errorf("a window's table is %v", table)
	}
	if b.take(longest) != nil {
		t.Error("the longest fits beside others")
	}
	b.give(one)
	b.give(two)
	b.reset()
	if b.take(longest) == nil {
		t.Error("the longest does not fit alone")
	}
}
