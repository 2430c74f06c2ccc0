package sched

import "slices"

// useAdapter counts the open sequences of an adapter.
func (s *Scheduler) useAdapter(name string, by int) {
	if name == "" {
		return
	}
	if s.users[name] += by; s.users[name] == 0 {
		delete(s.users, name)
	}
}

// Uses tells that a sequence has the adapter, or that a slot which had one with it is not
// free yet: the executor may still need it.
func (s *Scheduler) Uses(adapter string) bool {
	return s.users[adapter] > 0 || slices.ContainsFunc(s.bySlot, func(q *seq) bool { return q != nil && q.adapter == adapter })
}
