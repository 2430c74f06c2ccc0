package blockmgr

import (
	"errors"
	"fmt"
)

// ErrProtocol is the class of a Reserve that breaks the contract: a bug of the
// caller. The Manager is then of no more use.
var ErrProtocol = errors.New("blockmgr: reserve breaks the protocol")

// Config is the geometry of a cache.
type Config struct {
	PageSize int    // tokens of a block
	Blocks   []int  // per cache group
	Slots    int    // sequences
	Sharing  bool   // publish full pages and let others take them
	Key      uint64 // of the hashes, so that nobody can aim for collisions
}

// Manager owns every block of the cache.
type Manager struct {
	page     int32
	sharing  bool
	pools    []pool // one per cache group
	slots    []slot
	draining []drain
	doneStep uint64
	tree     tree
	ahead    map[uint64]*slot // by chain: who computes that page next
	found    []*node          // of the last match
	added    []Added          // arena of one answer
	blocks   []int32          // likewise
}

type drain struct {
	after  uint64
	group  int32
	blocks []int32
}

// New makes the books of an empty cache.
func New(c Config) *Manager {
	m := &Manager{page: int32(c.PageSize), sharing: c.Sharing, slots: make([]slot, c.Slots),
		tree: tree{key: c.Key, index: map[uint64]*node{}}, ahead: map[uint64]*slot{}}
	for _, n := range c.Blocks {
		m.pools = append(m.pools, newPool(n))
	}
	for i := range m.slots {
		m.slots[i] = slot{number: Slot(i), tables: make([][]int32, len(c.Blocks))}
	}
	return m
}

// Reserve applies one step's request and fills out.
func (m *Manager) Reserve(r *Reserve, out *Reserved) error {
	out.reset(r.Step)
	m.added, m.blocks = m.added[:0], m.blocks[:0]
	for _, f := range r.Forks {
		if err := m.fork(f); err != nil {
			return err
		}
	}
	for _, d := range r.Done {
		if err := m.done(d); err != nil {
			return err
		}
	}
	if r.DoneStep > m.doneStep {
		m.doneStep = r.DoneStep
		m.drained()
	}
	for _, rel := range r.Release {
		if err := m.close(rel.Slot, rel.After); err != nil {
			return err
		}
	}
	for _, o := range r.Open {
		if err := m.open(o); err != nil {
			return err
		}
	}
	if err := m.grantAll(r, out); err != nil {
		return err
	}
	out.Free = m.room()
	return nil
}

// done publishes what a step wrote.
func (m *Manager) done(d Done) error {
	s, err := m.at(d.Slot)
	if err != nil {
		return err
	}
	if !s.open { // given up while the step ran
		return nil
	}
	if !m.covers(s, d.Written) {
		return fmt.Errorf("%w: slot %d wrote %d positions, more than it owns blocks for", ErrProtocol, d.Slot, d.Written)
	}
	if !m.sharing {
		return nil
	}
	s.ids = append(s.ids, d.IDs...)
	if d.Written > int32(len(s.ids)) {
		return fmt.Errorf("%w: slot %d wrote %d positions of %d known ids", ErrProtocol, d.Slot, d.Written, len(s.ids))
	}
	if d.Epoch != s.epoch {
		s.barred = true
		m.pass(s)
	}
	m.publish(s, d.Written)
	return nil
}

// open makes a slot known.
func (m *Manager) open(o Open) error {
	s, err := m.at(o.Slot)
	if err != nil {
		return err
	}
	if s.open {
		return fmt.Errorf("%w: slot %d is opened twice", ErrProtocol, o.Slot)
	}
	*s = slot{number: s.number, open: true, salt: o.Salt, ids: s.ids[:0], prompt: int32(len(o.IDs)), chain: s.chain[:0], path: s.path, tables: s.tables}
	if m.sharing {
		s.ids = append(s.ids, o.IDs...)
	}
	return nil
}

// close gives a slot's blocks up, at once or when step after is done. Deeper
// pages go first, so that they are evicted before those they follow.
func (m *Manager) close(n Slot, after uint64) error {
	s, err := m.at(n)
	if err != nil {
		return err
	}
	if !s.open {
		return fmt.Errorf("%w: slot %d is released but not open", ErrProtocol, n)
	}
	s.open = false
	m.pass(s)
	for g, t := range s.tables {
		if after <= m.doneStep {
			m.unrefAll(g, t)
		} else if len(t) > 0 {
			m.draining = append(m.draining, drain{after: after, group: int32(g), blocks: append([]int32(nil), t...)})
		}
		s.tables[g] = t[:0]
	}
	m.leavePath(s)
	return nil
}

// drained gives back what waited for steps that are done now.
func (m *Manager) drained() {
	kept := m.draining[:0]
	for _, d := range m.draining {
		if d.after <= m.doneStep {
			m.unrefAll(int(d.group), d.blocks)
		} else {
			kept = append(kept, d)
		}
	}
	clear(m.draining[len(kept):])
	m.draining = kept
}

func (m *Manager) unrefAll(g int, blocks []int32) {
	for i := len(blocks) - 1; i >= 0; i-- {
		m.pools[g].unref(blocks[i])
	}
}

// missing is the most blocks that s lacks in any group to write up to n tokens.
func (m *Manager) missing(s *slot, n int32) int32 {
	most := int32(0)
	for g := range m.pools {
		most = max(most, m.blocksFor(n)-int32(len(s.tables[g])))
	}
	if m.sharesTail(s) {
		most++ // for the copy of the last one
	}
	return most
}

// covers tells whether the tables of s reach n tokens.
func (m *Manager) covers(s *slot, n int32) bool {
	for g := range m.pools {
		if m.blocksFor(n) > int32(len(s.tables[g])) {
			return false
		}
	}
	return true
}

func (m *Manager) blocksFor(tokens int32) int32 { return (tokens + m.page - 1) / m.page }

// room is the number of blocks of the scarcest group that are free or idle.
func (m *Manager) room() int {
	n := m.pools[0].room()
	for g := range m.pools[1:] {
		n = min(n, m.pools[g+1].room())
	}
	return n
}

func (m *Manager) at(n Slot) (*slot, error) {
	if n < 0 || int(n) >= len(m.slots) {
		return nil, fmt.Errorf("%w: there is no slot %d", ErrProtocol, n)
	}
	return &m.slots[n], nil
}
