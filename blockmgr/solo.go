package blockmgr

// Blocks of one sequence may be spread over more sectors than they fill, and keep
// another group from the one that it needs, for ever when nobody else is left to be
// given up. Then the sequence gives itself up, and who starts next has the memory for
// itself, emptied, until it ends: there it finds all that Config.Longest promises.

// stuck tells that s, which lacks blocks, is alone and waits for nothing.
func (w *round) stuck(s *slot) bool {
	if w.sectors == nil || len(w.draining) > 0 || w.doneStep+1 < w.r.Step {
		return false
	}
	for i := range w.slots {
		if o := &w.slots[i]; o != s && o.open && o.started {
			return false
		}
	}
	return true
}

// giveItselfUp closes a sequence that is stuck.
func (w *round) giveItselfUp(s *slot) error {
	w.out.Preempted = append(w.out.Preempted, Preempted{Slot: s.number, For: s.number, How: Recompute, Had: s.longest()})
	w.clean = true
	return w.close(s.number, 0)
}

// empty evicts all that is idle.
func (m *Manager) empty() {
	for i, owner := range m.sectors.owner {
		if owner >= 0 && m.sectors.used[i] == 0 {
			m.vacate(int32(i))
		}
	}
}
