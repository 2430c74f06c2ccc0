package blockmgr

// sectors is the memory that several groups share. A group that has no block left
// opens a sector; when none of its blocks is referenced or idle, the sector is
// nobody's again.
type sectors struct {
	free       []int32 // a stack
	owner      []int32 // group, -1: nobody
	used, idle []int32 // blocks that are referenced, and that are idle
}

func newSectors(n int) *sectors {
	s := &sectors{owner: make([]int32, n), used: make([]int32, n), idle: make([]int32, n)}
	for i := n - 1; i >= 0; i-- {
		s.free = append(s.free, int32(i))
		s.owner[i] = -1
	}
	return s
}

// newShared makes the pool of a group that owns no sector yet.
func newShared(s *sectors, perSector int) pool {
	n := len(s.owner) * perSector
	return pool{free: newRing(n), idle: newRing(n), refs: make([]int32, n), node: make([]*node, n), drains: make([]int32, n), sectors: s, per: int32(perSector)}
}

// count notes how many more blocks of b's sector are referenced and idle.
func (p *pool) count(b, used, idle int32) {
	if p.sectors == nil {
		return
	}
	s, i := p.sectors, b/p.per
	if s.used[i] == 0 && s.idle[i] > 0 {
		p.whole--
	}
	s.used[i] += used
	s.idle[i] += idle
	switch {
	case s.used[i] > 0:
	case s.idle[i] > 0:
		p.whole++
	default:
		p.close(i)
	}
}

// open makes the blocks of a free sector free ones of group g, the lowest goes first.
func (p *pool) open(g int) {
	s := p.sectors
	i := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.owner[i] = int32(g)
	for b := (i+1)*p.per - 1; b >= i*p.per; b-- {
		p.free.push(b)
	}
}

// close gives sector i back, of which all blocks are free.
func (p *pool) close(i int32) {
	for b := i * p.per; b < (i+1)*p.per; b++ {
		p.free.remove(b)
	}
	p.sectors.owner[i] = -1
	p.sectors.free = append(p.sectors.free, i)
}

// secure makes every group have room for need blocks, which must fit, and free
// ones rather than idle ones as far as there are sectors of nobody.
func (m *Manager) secure(need []int32) {
	if m.sectors == nil {
		return
	}
	for g := range m.pools {
		for p := &m.pools[g]; p.room() < need[g]; p.open(g) {
			if len(m.sectors.free) == 0 {
				m.reclaim(need)
			}
		}
	}
	for g := range m.pools {
		for p := &m.pools[g]; p.free.count < need[g] && len(m.sectors.free) > 0; {
			p.open(g)
		}
	}
}

// reclaim evicts the idle blocks of a sector that its owner can spare, the one with
// the fewest. There must be one.
func (m *Manager) reclaim(need []int32) {
	best := -1
	for i, g := range m.sectors.owner {
		if g < 0 || m.sectors.used[i] > 0 || m.pools[g].room()-need[g] < m.pools[g].per {
			continue
		}
		if best < 0 || m.sectors.idle[i] < m.sectors.idle[best] {
			best = i
		}
	}
	m.vacate(int32(best))
}

// vacate evicts the idle blocks of sector i, of which none is referenced.
func (m *Manager) vacate(i int32) {
	g := int(m.sectors.owner[i])
	p := &m.pools[g]
	for b := i * p.per; b < (i+1)*p.per; b++ {
		if p.node[b] != nil {
			m.evict(g, b)
		}
	}
}
