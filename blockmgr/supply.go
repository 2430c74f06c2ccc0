package blockmgr

import (
	"slices"
	"sort"
)

// supply is which blocks can be had, now or when the steps in flight end.
type supply struct {
	room  []int32 // per group: free or idle
	whole []int32 // per group: sectors of which all blocks are, and that another group may get
	free  int32   // sectors of nobody
	used  []int32 // scratch: per sector
}

// now is what can be had at once.
func (m *Manager) now() *supply {
	s := &m.supply
	for g := range m.pools {
		s.room[g], s.whole[g] = m.pools[g].room(), m.pools[g].whole
	}
	if m.sectors != nil {
		s.free = int32(len(m.sectors.free))
	}
	return s
}

// later is what can be had when the steps in flight end: also the blocks that nothing
// but drains refers to.
func (m *Manager) later() *supply {
	s := m.now()
	if m.sectors != nil {
		s.used = append(s.used[:0], m.sectors.used...)
	}
	for _, d := range m.draining {
		p := &m.pools[d.group]
		if p.drains[d.block]++; p.drains[d.block] < p.refs[d.block] {
			continue
		}
		s.room[d.group]++
		if m.sectors != nil {
			i := d.block / p.per
			if s.used[i]--; s.used[i] == 0 {
				s.whole[d.group]++
			}
		}
	}
	for _, d := range m.draining {
		m.pools[d.group].drains[d.block] = 0
	}
	return s
}

// fits tells whether each group can have need blocks, all at the same time. A group
// that has more room than it needs gives up sectors.
func (m *Manager) fits(need []int32, s *supply) bool {
	open, spare := int32(0), s.free
	for g, n := range need {
		per, over := m.pools[g].per, n-s.room[g]
		switch {
		case per == 0:
			if over > 0 {
				return false
			}
		case over > 0:
			open += (over + per - 1) / per
		default:
			spare += min(s.whole[g], -over/per)
		}
	}
	return open <= spare
}

// short is how many of need blocks are lacking in the group that lacks most even if it
// gets all sectors that can be had; at least 1, since they do not fit.
func (m *Manager) short(need []int32) int32 {
	s, most, sectors := m.now(), int32(1), int32(0)
	for _, n := range s.whole {
		sectors += n
	}
	for g, n := range need {
		most = max(most, n-s.room[g]-m.pools[g].per*(s.free+sectors-s.whole[g]))
	}
	return most
}

// free is the most blocks that every group can have at the same time.
func (m *Manager) free() int {
	s := m.now()
	if m.sectors == nil {
		return int(slices.Min(s.room))
	}
	return sort.Search(len(m.sectors.owner)*int(m.pools[0].per), func(n int) bool {
		for g := range m.even {
			m.even[g] = int32(n + 1)
		}
		return !m.fits(m.even, s)
	})
}
