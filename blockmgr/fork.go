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
	s.started, s.room, s.epoch, s.private, s.barred = true, p.room, p.epoch, p.private, p.barred
	s.forked = true
	s.tail = int32(len(f.IDs))%m.page != 0
	for g := range m.pools {
		s.base[g] = p.base[g]
		for _, b := range p.tables[g][:n-p.base[g]] {
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

// sharesTail tells whether s must copy its last block of group g before it writes there.
func (m *Manager) sharesTail(s *slot, g int) bool {
	return s.tail && m.pools[g].refs[s.tables[g][len(s.tables[g])-1]] > 1
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
		w.giveUp(g, *last, w.r.Step)
		w.out.Copies = append(w.out.Copies, Copy{Slot: s.number, Group: int32(g), From: *last, To: own})
		*last = own
	}
}
