package blockmgr

import (
	"fmt"
	"slices"
)

// publishes tells that others may find what s computes.
func (m *Manager) publishes(s *slot) bool { return m.sharing && !s.private && !s.barred }

// publish puts the pages that s has filled up to written positions into the tree.
// A page that is there already, computed by another sequence at the same time,
// keeps its block; this one's own stays private.
func (m *Manager) publish(s *slot, written int32) {
	if !m.publishes(s) {
		return
	}
	full := s.pages(m.page, written/m.page, m.tree.root(s.salt, s.epoch))
	if int32(len(s.path)) >= full {
		return
	}
	m.pass(s)
	for i := int32(len(s.path)); i < full; i++ {
		tokens := s.ids[i*m.page : (i+1)*m.page]
		n := m.tree.find(s.chain[i], s.last(), s.salt, s.epoch, tokens)
		if n == nil {
			n = m.tree.add(s.chain[i], s.last(), s.salt, s.epoch, tokens, len(m.pools))
		}
		for g := range m.pools {
			if b := s.block(g, i); b >= 0 && n.blocks[g] < 0 {
				n.blocks[g] = b
				m.pools[g].node[b] = n
			}
		}
		n.holds++
		s.path = append(s.path, n)
	}
	m.announce(s)
}

// match finds the longest published beginning of s of at most n pages of which each
// group has the blocks that what comes behind attends to. They are not taken yet.
func (m *Manager) match(s *slot, n int32) {
	n = s.pages(m.page, n, m.tree.root(s.salt, s.epoch))
	m.found = m.found[:0]
	clear(m.gap)
	best := int32(0)
	var parent *node
	for i := range n {
		next := m.tree.find(s.chain[i], parent, s.salt, s.epoch, s.ids[i*m.page:(i+1)*m.page])
		if next == nil {
			break
		}
		m.found = append(m.found, next)
		parent = next
		complete := true
		for g, b := range next.blocks {
			if b < 0 {
				m.gap[g] = i + 1
			}
			complete = complete && m.gap[g] <= m.first(g, (i+1)*m.page)
		}
		if complete {
			best = i + 1
		}
	}
	m.found = m.found[:best]
}

// adopt gives s the blocks that match found, from the base of each table on.
func (m *Manager) adopt(s *slot) {
	for i, n := range m.found {
		n.holds++
		s.path = append(s.path, n)
		for g := range m.pools {
			if int32(i) < s.base[g] {
				continue
			}
			m.pools[g].acquire(n.blocks[g])
			s.tables[g] = append(s.tables[g], n.blocks[g])
		}
	}
}

// abandon undoes adopt.
func (m *Manager) abandon(s *slot) {
	for g, t := range s.tables {
		for i := len(t) - 1; i >= 0; i-- {
			m.pools[g].unref(t[i])
		}
		s.tables[g] = t[:0]
	}
	m.leavePath(s)
}

// leavePath takes s off its nodes, the deepest first.
func (m *Manager) leavePath(s *slot) {
	for i := len(s.path) - 1; i >= 0; i-- {
		n := s.path[i]
		s.path[i] = nil
		n.holds--
		m.tree.drop(n)
	}
	s.path = s.path[:0]
}

// announce registers the prompt page that s computes next, so that others that
// need it wait for it. One page a sequence is enough: whoever shares its beginning
// finds the pages before it published.
func (m *Manager) announce(s *slot) {
	next := int32(len(s.path))
	if !m.publishes(s) || next >= s.prompt/m.page {
		return
	}
	s.pages(m.page, next+1, m.tree.root(s.salt, s.epoch))
	chain := s.chain[next]
	if _, taken := m.ahead[chain]; !taken {
		s.frontier, s.ahead = chain, true
		m.ahead[chain] = s
	}
}

// pass withdraws what announce registered.
func (m *Manager) pass(s *slot) {
	if s.ahead {
		delete(m.ahead, s.frontier)
		s.ahead = false
	}
}

// computing is the slot that is about to compute page n of s, -1: none. It has the
// same tokens up to the end of that page.
func (m *Manager) computing(s *slot, n int32) Slot {
	if n >= int32(len(s.chain)) {
		return -1
	}
	w := m.ahead[s.chain[n]]
	end := (n + 1) * m.page
	if w == nil || w == s || w.salt != s.salt || w.epoch != s.epoch || !slices.Equal(w.ids[:end], s.ids[:end]) {
		return -1
	}
	return w.number
}

// unpublish makes a block private, if it is not.
func (m *Manager) unpublish(g int, b int32) {
	if n := m.pools[g].node[b]; n != nil {
		m.pools[g].node[b] = nil
		n.blocks[g] = -1
		m.tree.drop(n)
	}
}

// forgetAll makes every idle block free, so that nothing published is found. No block
// may be referenced.
func (m *Manager) forgetAll() error {
	for i := range m.slots {
		if s := &m.slots[i]; s.open && s.longest() > 0 {
			return fmt.Errorf("%w: the cache is emptied while slot %d holds blocks", ErrProtocol, i)
		}
	}
	if len(m.draining) > 0 {
		return fmt.Errorf("%w: the cache is emptied while %d blocks drain", ErrProtocol, len(m.draining))
	}
	for g := range m.pools {
		for p := &m.pools[g]; p.idle.count > 0; {
			m.evict(g, p.idle.oldest())
		}
	}
	return nil
}

// evict makes an idle block free.
func (m *Manager) evict(g int, b int32) {
	p := &m.pools[g]
	m.unpublish(g, b)
	p.idle.remove(b)
	p.free.push(b)
	p.count(b, 0, -1)
}
