package weights

import "fmt"

// Commit makes what was staged the set that serves, under the next epoch, or
// changes nothing: Check's errors, and ErrVersion when the base does not serve any
// more. After Check it takes a few microseconds for each tensor at most.
func (u *Update) Commit() (*Set, error) {
	if err := u.Check(); err != nil {
		return nil, err
	}
	s := u.store
	if u.manifest.needsBase() && s.current != u.base {
		return nil, fmt.Errorf("%w: the update is made for %q (epoch %d), but %q (epoch %d) serves; abort it", ErrVersion,
			u.base.Version, u.base.Epoch, s.current.Version, s.current.Epoch)
	}
	set := s.serve(u.set)
	u.end()
	return set, nil
}

// Abort gives up an update and its memory. After Commit it does nothing.
func (u *Update) Abort() {
	if u.closed {
		return
	}
	for _, s := range u.plan.slots {
		u.store.mem.release(s.block)
	}
	u.end()
}

// end takes the update apart, so that it keeps no memory.
func (u *Update) end() {
	s := u.store
	s.mem.taken -= u.staging.limit
	s.update = nil
	u.base.users--
	s.settle(u.base)
	*u = Update{version: u.version, dropped: u.dropped, closed: true, plan: &planner{}}
}
