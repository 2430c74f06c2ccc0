package blockmgr

import "fmt"

// fork gives a new slot the blocks of its parent.
func (m *Manager) fork(f Fork) error {
	p, err := m.at(f.Parent)
	if err != nil {
		return err
	}
	n := m.blocksFor(int32(len(f.IDs)))
	if !p.open || !m.covers(p, int32(len(f.IDs))) {
		return fmt.Errorf("%w: slot %d forks slot %d, which does not hold %d tokens", ErrProtocol, f.Slot, f.Parent, len(f.IDs))
	}
	if err := m.open(Open{Slot: f.Slot, IDs: f.IDs, Salt: p.salt}); err != nil {
		return err
	}
	s := &m.slots[f.Slot]
	s.started, s.room, s.epoch, s.barred = true, p.room, p.epoch, p.barred
	s.forked = true
	s.tail = int32(len(f.IDs))%m.page != 0
	for g := range m.pools {
		for _, b := range p.tables[g][:n] {
			m.pools[g].refs[b]++
			s.tables[g] = append(s.tables[g], b)
		}
	}
	for _, node := range p.path[:min(len(p.path), len(f.IDs)/int(m.page))] {
		node.holds++
		s.path = append(s.path, node)
	}
	return nil
}

// sharesTail tells whether s must copy its last block before it writes there.
func (m *Manager) sharesTail(s *slot) bool {
	if !s.tail {
		return false
	}
	for g := range m.pools {
		if b := s.tables[g][len(s.tables[g])-1]; m.pools[g].refs[b] > 1 {
			return true
		}
	}
	return false
}

// ownTail gives s a last block of its own before it writes there: a copy, or the
// block itself when nobody else has it any more. What is copied drains until the
// step that reads it is done.
func (w *round) ownTail(s *slot) {
	s.tail = false
	for g := range w.pools {
		p := &w.pools[g]
		last := &s.tables[g][len(s.tables[g])-1]
		if p.refs[*last] == 1 {
			w.unpublish(g, *last)
			continue
		}
		own := w.take(g)
		w.draining = append(w.draining, drain{after: w.r.Step, group: int32(g), blocks: []int32{*last}})
		w.out.Copies = append(w.out.Copies, Copy{Group: int32(g), From: *last, To: own})
		*last = own
	}
}
