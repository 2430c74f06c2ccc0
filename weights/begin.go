package weights

import "fmt"

// Begin opens an update that will be called version, over the version base, which
// must be the one that serves; "" stands for whichever does, unless tensors of the
// base are needed. The whole manifest is checked, and all memory counted, before
// any is taken. Where the memory does not hold another set, the retained one is
// given up for it: Update.Dropped tells.
//
// Errors wrap ErrBusy, ErrVersion, ErrMemory, or name what is wrong with a tensor:
// ErrMissing, ErrUnknown, ErrTwice, ErrShape, ErrDType, ErrTied.
func (s *Store) Begin(base, version string, m Manifest) (*Update, error) {
	if err := s.checkVersions(base, version, &m); err != nil {
		return nil, err
	}
	p, err := plan(s.cfg, s.opt.Storage, false, s.current.Set, &m)
	if err != nil {
		return nil, err
	}
	s.Confirm()
	u := &Update{store: s, base: s.current, version: version, manifest: m, plan: p, sums: map[string]Digest{}}
	least, most := need(p.slots)
	if u.staging.limit = most; s.opt.Staging > 0 {
		u.staging.limit = min(most, s.opt.Staging)
	}
	if u.staging.limit < least {
		return nil, fmt.Errorf("%w: %d bytes of staging are needed, there may be %d", ErrMemory, least, s.opt.Staging)
	}
	if u.dropped, err = s.makeRoom(u.size()); err != nil {
		return nil, err
	}
	s.reserve(u)
	if kind := m.Digest.Kind; kind != NoDigest {
		for _, e := range p.order {
			e.sumOf(kind)
		}
	}
	u.base.users++
	s.update = u
	return u, nil
}

func (s *Store) checkVersions(base, version string, m *Manifest) error {
	serving := s.current.Version
	switch {
	case s.update != nil:
		return fmt.Errorf("%w: version %q; commit or abort it first", ErrBusy, s.update.version)
	case s.over != nil:
		return fmt.Errorf("%w: version %q, in place; write or abort it first", ErrBusy, s.over.version)
	case version == "":
		return fmt.Errorf("%w: an update needs a name", ErrVersion)
	case version == serving:
		return fmt.Errorf("%w: %q serves already", ErrVersion, version)
	case base == "" && m.needsBase():
		return fmt.Errorf("%w: a partial update must name its base; %q serves", ErrVersion, serving)
	case base != "" && base != serving:
		return fmt.Errorf("%w: the base is %q, but %q serves", ErrVersion, base, serving)
	}
	return nil
}

// needsBase tells whether tensors of the base are part of what comes out.
func (m *Manifest) needsBase() bool {
	for _, e := range m.Tensors {
		if _, sparse := sparseTarget(e.Name); sparse {
			return true
		}
	}
	return m.Partial
}

// size is the memory that an update takes at most.
func (u *Update) size() int {
	n := u.staging.limit
	for _, s := range u.plan.slots {
		n += s.block.size
	}
	return n
}

// makeRoom sees to it that n more bytes can be taken, and tells which version was
// given up for them.
func (s *Store) makeRoom(n int) (dropped string, err error) {
	free := s.opt.Limit - s.mem.taken
	if s.opt.Limit == 0 || n <= free {
		return "", nil
	}
	if r := s.retained; r != nil && r.users == 0 {
		for _, b := range r.blocks() {
			if b.sets == 1 {
				free += b.size
			}
		}
		if n <= free {
			return s.Forget(), nil
		}
	}
	return "", fmt.Errorf("%w: the update needs %d bytes, %d of %d are free (kept: %q); wait until older sets are not used any more, or send less",
		ErrMemory, n, max(free, 0), s.opt.Limit, s.Retained())
}

// reserve takes what makeRoom has found.
func (s *Store) reserve(u *Update) {
	blocks := make([]*block, len(u.plan.slots))
	for i, slot := range u.plan.slots {
		blocks[i] = slot.block
	}
	s.mem.taken += u.staging.limit
	s.mem.reserve(blocks)
	if s.opt.Limit > 0 && s.mem.taken+s.mem.pool.bytes > s.opt.Limit {
		s.Trim()
	}
}
