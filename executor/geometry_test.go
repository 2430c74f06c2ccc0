package executor

import "testing"

// The sizes of the reference's goldens: one kind of attention of 16 layers, and two
// of 8. (What memory and tokens give together is held in package engine.)
func TestSectorsHoldWholeBlocks(t *testing.T) {
	const page = 2 * 8 * 64 * 2 * 256 // 8 KV heads of 64, bf16, 256 tokens
	for _, c := range []struct {
		layers                   []int
		sector                   int64
		perSector, tokens, whole int
		sectors                  int
	}{
		{[]int{16}, 8388608, 1, 256, 1853, 1853},
		{[]int{8, 8}, 4194304, 1, 256, 567, 1135},
		{[]int{4, 12}, 6291456, 3, 768, 75, 100},
	} {
		g := Geometry{PageSize: 256, PageBytes: page, Layers: c.layers}
		if g.SectorBytes() != c.sector || g.PerSector(0) != c.perSector || g.SectorTokens() != c.tokens || g.WholeBlocks(c.sectors) != c.whole {
			t.Errorf("%v: sector of %d bytes, %d blocks, %d tokens; %d whole blocks; want %+v", c.layers, g.SectorBytes(), g.PerSector(0), g.SectorTokens(), g.WholeBlocks(c.sectors), c)
		}
		for i := range c.layers {
			if s := g.SectorBytes(); s%g.BlockBytes(i) != 0 || s%128 != 0 { // invariant I24
				t.Errorf("%v: a sector of %d bytes is no multiple of 128 and %d", c.layers, s, g.BlockBytes(i))
			}
		}
		if n := g.MinSectors(100); g.WholeBlocks(n) < 100 || n > 1 && g.WholeBlocks(n-1) >= 100 {
			t.Errorf("%v: %d sectors are not the least that hold 100 blocks", c.layers, n)
		}
	}
	if g := (Geometry{PageSize: 3, PageBytes: 120, Layers: []int{1}}); g.SectorBytes() != 1920 || g.PerSector(0) != 16 {
		t.Errorf("a page of 120 bytes: sectors of %d bytes, want 1920, the multiple of 128", g.SectorBytes())
	}
	if n := (Geometry{PageSize: 1, PageBytes: 1, Layers: []int{1}}).MinSectors(0); n != 1 {
		t.Errorf("no blocks take %d sectors, want 1", n)
	}
}

// Of groups that share nothing, the scarcest says how many blocks all have.
func TestCacheBlocksOfOwnMemory(t *testing.T) {
	for want, blocks := range map[int][]int{5: {7, 5}, 3: {3}, 4: {4, 9}} {
		var i Info
		for _, n := range blocks {
			i.Groups = append(i.Groups, Group{Blocks: n})
		}
		if got := i.CacheBlocks(); got != want {
			t.Errorf("groups of %v blocks: %d, want %d", blocks, got, want)
		}
	}
}

// TestBlocksOfSectors: as many blocks of every group as fit, and not one more.
func TestBlocksOfSectors(t *testing.T) {
	for _, layers := range [][]int{{3, 15}, {4, 22}, {5, 29}, {13, 13}, {1, 2}} {
		c := Geometry{PageSize: 16, PageBytes: 192, Layers: layers}
		for sectors := range 300 {
			n := c.Blocks(sectors)
			if c.Sectors(n) > sectors || c.Sectors(n+1) <= sectors {
				t.Fatalf("%v: %d sectors have %d blocks of every group, which take %d, and one more %d", layers, sectors, n, c.Sectors(n), c.Sectors(n+1))
			}
			if sectors == 0 {
				continue
			}
			i := Info{Sectors: sectors}
			for g := range layers {
				i.Groups = append(i.Groups, Group{Blocks: sectors * c.PerSector(g), PerSector: c.PerSector(g)})
			}
			if got := i.CacheBlocks(); got != n {
				t.Fatalf("%v: an executor of %d sectors has %d blocks of every group, want %d", layers, sectors, got, n)
			}
		}
	}
}
