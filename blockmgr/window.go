package blockmgr

import (
	"math"
	"sort"
)

// A group with a window keeps the blocks of a table in order, from a base on: a
// block wholly behind the window of every position that is still to be computed
// has left the table. Position p attends to those from p-Window+1 to p.

// first is the index of the first block of group g that positions from p on attend to.
func (m *Manager) first(g int, p int32) int32 {
	if m.window[g] == 0 {
		return 0
	}
	return max(0, p-m.window[g]+1) / m.page
}

// TableBound is the most blocks that a table of a group with that window holds while
// at most chunk tokens are computed at a time; 0 is full attention, without bound.
func TableBound(window, chunk, pageSize int) int {
	if window == 0 {
		return math.MaxInt32
	}
	return (window+chunk+pageSize-1)/pageSize + 1
}

// recede takes what lies behind the window of position p out of the tables of s.
// After is the last step that may touch it; what it wrote there is published even so.
func (m *Manager) recede(s *slot, p int32, after uint64) {
	for g := range m.window {
		n := m.first(g, p) - s.base[g]
		if n <= 0 {
			continue
		}
		t := s.tables[g]
		for _, b := range t[:n] {
			m.giveUp(g, b, after)
		}
		if after > m.doneStep {
			s.behind[g] = append(s.behind[g], t[:n]...)
		}
		s.tables[g] = t[:copy(t, t[n:])]
		s.base[g] += n
	}
}

// Longest is the most positions of which a sequence that is alone can be computed to
// the end; math.MaxInt32: any number.
func (c Config) Longest() int {
	most := 0
	for _, n := range c.Blocks {
		most = max(most, n)
	}
	for _, n := range c.PerSector {
		most = max(most, c.Sectors*n)
	}
	n := sort.Search(most+1, func(n int) bool { return !c.holds(n + 1) })
	if n > most {
		return math.MaxInt32
	}
	return n * c.PageSize
}

// holds tells whether a sequence of n blocks can be computed alone. In memory that
// groups share, a table that moves on may keep a sector for each block that it holds.
func (c Config) holds(n int) bool {
	if c.Sectors == 0 {
		for g, blocks := range c.Blocks {
			if min(n, c.bound(g)) > blocks {
				return false
			}
		}
		return true
	}
	sectors := 0
	for g, per := range c.PerSector {
		if bound := c.bound(g); bound < n && len(c.PerSector) > 1 {
			sectors += bound
		} else {
			sectors += (min(n, bound) + per - 1) / per
		}
	}
	return sectors <= c.Sectors
}

func (c Config) bound(g int) int {
	if g >= len(c.Window) {
		return math.MaxInt32
	}
	return TableBound(c.Window[g], c.Chunk, c.PageSize)
}
