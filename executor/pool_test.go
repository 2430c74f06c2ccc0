package executor

import "testing"

// A page of 8 tokens has 96 bytes; where a layer of full attention shares with two that see 20
// positions, blocks have 96 and 192, a sector 384, 4 and 2 of them.
func TestSizePool(t *testing.T) {
	alone := Division{Layers: []int{2}, Windows: []int{0}}
	slides := Division{Layers: []int{2}, Windows: []int{20}}
	shared := Division{Layers: []int{1, 2}, Windows: []int{0, 20}}
	for _, c := range []struct {
		name            string
		division        Division
		context, slots  int
		most            int
		bounds          []PoolBound
		blocks, sectors int
		by              Bound
		bytes           int64
	}{
		{"a number", alone, 100, 3, 5, nil, 5, 0, ByNumBlocks, 5 * 192},
		{"use: 13 pages each", alone, 100, 3, 1000, nil, 39, 0, ByUse, 39 * 192},
		{"use: of a window, beside 2 steps of 4 tokens, 5", slides, 100, 3, 1000, nil, 15, 0, ByUse, 15 * 192},
		{"use: no more than the context", slides, 30, 3, 1000, nil, 12, 0, ByUse, 12 * 192},
		{"bytes", alone, 100, 3, 1000, []PoolBound{{ByQuarter, 7*192 + 191}, {ByMaxMemory, 8 * 192}}, 7, 0, ByQuarter, 7 * 192},
		{"the later of two", alone, 100, 3, 1000, []PoolBound{{ByQuarter, 8 * 192}, {ByMaxMemory, 7 * 192}}, 7, 0, ByMaxMemory, 7 * 192},
		{"nothing", alone, 100, 3, 1000, []PoolBound{{ByMaxMemory, 191}}, 0, 0, ByMaxMemory, 0},
		{"less than nothing", alone, 100, 3, 1000, []PoolBound{{ByMaxMemory, -1000}}, 0, 0, ByMaxMemory, 0},
		{"shared: 5 blocks each take 2 and 3", shared, 100, 3, 5, nil, 6, 5, ByNumBlocks, 5 * 384},
		{"shared, use: 39 and 15 blocks in 10 and 8, and one", shared, 100, 3, 1000, nil, 24, 18, ByUse, 18 * 384},
		{"shared, use of one: its window in 5 sectors", shared, 100, 1, 1000, nil, 12, 9, ByUse, 9 * 384},
		{"shared, bytes", shared, 100, 3, 1000, []PoolBound{{ByMaxMemory, 3*384 - 1}}, 2, 2, ByMaxMemory, 2 * 384},
		{"shared, nothing", shared, 100, 3, 1000, []PoolBound{{ByMaxMemory, 2*384 - 1}}, 0, 0, ByMaxMemory, 0},
	} {
		p, bytes := SizePool(PoolConfig{Division: c.division, PageSize: 8, PageBytes: 96, MaxSlots: c.slots, MaxTokens: 4, MaxContext: c.context,
			MaxOutstanding: 2, NumBlocks: c.most, HostBlocks: 9, Bounds: c.bounds})
		if p.Blocks != c.blocks || p.Sectors != c.sectors || p.Bound != c.by || bytes != c.bytes {
			t.Errorf("%s: %d blocks, %d sectors, %d bytes by %s; want %d, %d, %d by %s", c.name, p.Blocks, p.Sectors, bytes, p.Bound, c.blocks, c.sectors, c.bytes, c.by)
		}
		if p.Blocks == 0 {
			continue
		}
		info := p.Cache()
		if len(info.Groups) != len(c.division.Layers) || info.Sectors != p.Sectors || info.PageSize != 8 {
			t.Fatalf("%s: %+v", c.name, info)
		}
		for g, group := range info.Groups {
			want := Group{Blocks: p.Blocks, Host: 9, Window: c.division.Windows[g]}
			if p.Sectors > 0 {
				want.PerSector = []int{4, 2}[g]
				want.Blocks = want.PerSector * p.Sectors
			}
			if group != want {
				t.Errorf("%s: group %d is %+v, want %+v", c.name, g, group, want)
			}
		}
		if got := info.CacheBlocks(); got != p.Blocks {
			t.Errorf("%s: the cache has %d blocks of every group, planned are %d", c.name, got, p.Blocks)
		}
	}
}
