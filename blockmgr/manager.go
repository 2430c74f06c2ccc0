package blockmgr

import (
	"errors"
	"fmt"
	"math"
)

// ErrProtocol is the class of a Reserve that breaks the contract: a bug of the
// caller. The Manager is then of no more use.
var ErrProtocol = errors.New("blockmgr: reserve breaks the protocol")

// Config is the geometry of a cache. Its groups have blocks of their own, as Blocks
// says, or share Sectors.
type Config struct {
	PageSize  int    // tokens of a block
	Blocks    []int  // per cache group; not used with Sectors
	Sectors   int    // 0: none
	PerSector []int  // blocks of a sector, per cache group; block b lies in sector b/PerSector
	Window    []int  // per cache group: 0 or none for full attention, else what a position attends to, itself too
	Chunk     int    // most tokens of a sequence that a step computes; needed with a Window
	Slots     int    // sequences
	Sharing   bool   // publish full pages and let others take them
	Key       uint64 // of the hashes, so that nobody can aim for collisions
}

// Manager owns every block of the cache.
type Manager struct {
	page     int32
	sharing  bool
	chunk    int32
	pools    []pool  // one per cache group
	window   []int32 // per group
	bound    []int32 // per group: blocks that a table holds at most
	total    []int32 // per group: its blocks; of shared memory, as many as all groups have at the same time
	slots    []slot
	sectors  *sectors // nil: none
	clean    bool     // who starts next starts alone, in emptied memory
	draining []drain
	doneStep uint64
	tree     tree
	ahead    map[uint64]*slot // by chain: who computes that page next
	found    []*node          // of the last match
	added    []Added          // arena of one answer
	blocks   []int32          // likewise

	// Scratch of one answer, per group.
	supply     supply
	gap        []int32 // behind the last block that a match lacked
	need, even []int32
	held       []int32 // blocks that a refused candidate waits for: later ones leave them alone
	promised   []int32 // blocks that started sequences still need for what they were promised
}

// drain is a reference that is given up when a step is done.
type drain struct {
	after uint64
	group int32
	block int32
}

// New makes the books of an empty cache.
func New(c Config) *Manager {
	m := &Manager{page: int32(c.PageSize), sharing: c.Sharing, slots: make([]slot, c.Slots),
		tree: tree{key: c.Key, index: map[uint64]*node{}}, ahead: map[uint64]*slot{}}
	if c.Sectors > 0 {
		m.sectors = newSectors(c.Sectors)
		for _, n := range c.PerSector {
			m.pools = append(m.pools, newShared(m.sectors, n))
		}
	} else {
		for _, n := range c.Blocks {
			m.pools = append(m.pools, newPool(n))
		}
	}
	groups := len(m.pools)
	m.window, m.bound, m.chunk = make([]int32, groups), make([]int32, groups), math.MaxInt32
	for g, w := range c.Window {
		if w > 0 {
			m.window[g], m.chunk = int32(w), int32(c.Chunk)
		}
	}
	for g := range m.bound {
		m.bound[g] = int32(c.bound(g))
	}
	for _, perGroup := range []*[]int32{&m.supply.room, &m.supply.whole, &m.need, &m.even, &m.gap, &m.held, &m.promised, &m.total} {
		*perGroup = make([]int32, groups)
	}
	for g := range m.total {
		m.total[g] = m.pools[g].room()
		if m.sectors != nil {
			m.total[g] = int32(m.free())
		}
	}
	for i := range m.slots {
		m.slots[i] = slot{number: Slot(i), tables: make([][]int32, groups), base: make([]int32, groups), behind: make([][]int32, groups)}
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
	if r.Empty {
		if err := m.forgetAll(); err != nil {
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
	out.Free = m.free()
	return nil
}

// done publishes what a step wrote, and lets go what no later step reads.
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
	if m.sharing {
		if err := m.learn(s, d); err != nil {
			return err
		}
	}
	s.forget()
	m.recede(s, d.Written, 0)
	return nil
}

// learn takes in what became known, and publishes the pages that are full.
func (m *Manager) learn(s *slot, d Done) error {
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
	*s = slot{number: s.number, open: true, salt: o.Salt, private: o.Private, ids: s.ids[:0], prompt: int32(len(o.IDs)), chain: s.chain[:0], path: s.path, tables: s.tables, base: s.base, behind: s.behind}
	clear(s.base)
	s.forget()
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
		for i := len(t) - 1; i >= 0; i-- {
			m.giveUp(g, t[i], after)
		}
		s.tables[g] = t[:0]
	}
	m.leavePath(s)
	return nil
}

// giveUp takes a reference away, at once or when step after is done.
func (m *Manager) giveUp(g int, b int32, after uint64) {
	if after <= m.doneStep {
		m.pools[g].unref(b)
	} else {
		m.draining = append(m.draining, drain{after: after, group: int32(g), block: b})
	}
}

// drained gives back what waited for steps that are done now.
func (m *Manager) drained() {
	kept := m.draining[:0]
	for _, d := range m.draining {
		if d.after <= m.doneStep {
			m.pools[d.group].unref(d.block)
		} else {
			kept = append(kept, d)
		}
	}
	m.draining = kept
}

// lacks is how many blocks s needs in group g before it writes up to n tokens.
func (m *Manager) lacks(s *slot, g int, n int32) int32 {
	most := max(0, m.blocksFor(n)-s.end(g))
	if m.sharesTail(s, g) {
		most++ // for the copy of the last one
	}
	return most
}

// willLack is how many blocks more s will hold at most in group g on its way to n tokens.
func (m *Manager) willLack(s *slot, g int, n int32) int32 {
	if n <= s.end(g)*m.page && !s.tail {
		return 0 // as for most: no division
	}
	return min(m.lacks(s, g, n), max(0, m.bound[g]-int32(len(s.tables[g]))))
}

// covers tells whether the tables of s hold n tokens, as far as what comes behind attends to them.
func (m *Manager) covers(s *slot, n int32) bool {
	for g := range m.pools {
		if n > s.end(g)*m.page || m.first(g, n) < s.base[g] {
			return false
		}
	}
	return true
}

func (m *Manager) blocksFor(tokens int32) int32 { return (tokens + m.page - 1) / m.page }

func (m *Manager) at(n Slot) (*slot, error) {
	if n < 0 || int(n) >= len(m.slots) {
		return nil, fmt.Errorf("%w: there is no slot %d", ErrProtocol, n)
	}
	return &m.slots[n], nil
}
