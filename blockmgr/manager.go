package blockmgr

import (
	"errors"
	"fmt"
)

// ErrProtocol is the class of a Reserve that breaks the contract: a bug of the
// caller. The Manager is then of no more use.
var ErrProtocol = errors.New("blockmgr: reserve breaks the protocol")

// Manager owns every block of the cache.
type Manager struct {
	page     int32
	pools    []pool // one per cache group
	slots    []slot
	draining []drain
	doneStep uint64
	added    []Added // arena of the grants of one call
}

type slot struct {
	open    bool
	granted uint64    // the step of its last grant
	tables  [][]int32 // per group
}

type drain struct {
	after  uint64
	group  int32
	blocks []int32
}

// New makes the books of a cache: blocks per group, each of page tokens, for
// slots sequences.
func New(page int, blocks []int, slots int) *Manager {
	m := &Manager{page: int32(page), slots: make([]slot, slots)}
	for _, n := range blocks {
		m.pools = append(m.pools, newPool(n))
	}
	for i := range m.slots {
		m.slots[i].tables = make([][]int32, len(blocks))
	}
	return m
}

// Reserve applies one step's request and fills out.
func (m *Manager) Reserve(r *Reserve, out *Reserved) error {
	out.reset(r.Step)
	m.added = m.added[:0]
	if r.DoneStep > m.doneStep {
		m.doneStep = r.DoneStep
		m.drained()
	}
	for _, d := range r.Done {
		if err := m.done(d); err != nil {
			return err
		}
	}
	for _, rel := range r.Release {
		if err := m.close(rel.Slot, rel.After); err != nil {
			return err
		}
	}
	for _, o := range r.Open {
		s, err := m.at(o.Slot)
		if err != nil {
			return err
		}
		if s.open {
			return fmt.Errorf("%w: slot %d is opened twice", ErrProtocol, o.Slot)
		}
		s.open, s.granted = true, 0
	}
	if err := m.grantAll(r, out); err != nil {
		return err
	}
	out.Free = m.free()
	return nil
}

// done checks what a step wrote against what the slot owns.
func (m *Manager) done(d Done) error {
	s, err := m.at(d.Slot)
	if err != nil {
		return err
	}
	if s.open && m.missing(s, d.Written) > 0 {
		return fmt.Errorf("%w: slot %d wrote %d positions, more than it owns blocks for", ErrProtocol, d.Slot, d.Written)
	}
	return nil
}

// grantAll walks the candidates. held is what a refused candidate that may
// preempt is waiting for: later ones leave it alone.
func (m *Manager) grantAll(r *Reserve, out *Reserved) error {
	left, held, nextVictim := r.Budget, int32(0), 0
	for _, c := range r.Candidates {
		s, err := m.at(c.Slot)
		if err != nil {
			return err
		}
		if !s.open { // it was taken as a victim for an earlier candidate
			out.Refused = append(out.Refused, Refusal{Slot: c.Slot})
			continue
		}
		count := min(c.Want, left.Tokens)
		if count <= 0 || left.Rows <= 0 {
			out.Refused = append(out.Refused, Refusal{Slot: c.Slot})
			continue
		}
		need := m.missing(s, c.Position+count)
		if c.MayPreempt {
			for need > int32(m.free())-held+m.drainingBlocks() && nextVictim < len(r.Victims) {
				v := r.Victims[nextVictim]
				if v.Slot == c.Slot { // only what stands before it in the order of sacrifice
					break
				}
				nextVictim++
				if err := m.preempt(v, r.Step, out); err != nil {
					return err
				}
			}
		}
		if short := need - (int32(m.free()) - held); short > 0 {
			if c.MayPreempt {
				held += need
			}
			out.Refused = append(out.Refused, Refusal{Slot: c.Slot, Missing: short})
			continue
		}
		m.grant(s, c, count, r.Step, out)
		left.Tokens -= count
		left.Rows--
	}
	return nil
}

func (m *Manager) grant(s *slot, c Candidate, count int32, step uint64, out *Reserved) {
	first := len(m.added)
	for g := range m.pools {
		have := int32(len(s.tables[g]))
		n := m.blocksFor(c.Position+count) - have
		if n <= 0 {
			continue
		}
		s.tables[g] = m.pools[g].take(s.tables[g], n)
		m.added = append(m.added, Added{Group: int32(g), Index: have, Blocks: s.tables[g][have:]})
	}
	s.granted = step
	out.Grants = append(out.Grants, Grant{Slot: c.Slot, Start: c.Position, Count: count, New: m.added[first:len(m.added):len(m.added)]})
}

func (m *Manager) preempt(v Victim, step uint64, out *Reserved) error {
	s, err := m.at(v.Slot)
	if err != nil {
		return err
	}
	if !s.open || s.granted == step {
		return nil
	}
	if err := m.close(v.Slot, v.After); err != nil {
		return err
	}
	out.Preempted = append(out.Preempted, Preempted{Slot: v.Slot, How: v.How})
	return nil
}

// close gives a slot's blocks up, at once or when step after is done.
func (m *Manager) close(n Slot, after uint64) error {
	s, err := m.at(n)
	if err != nil {
		return err
	}
	if !s.open {
		return fmt.Errorf("%w: slot %d is released but not open", ErrProtocol, n)
	}
	s.open = false
	for g, t := range s.tables {
		if after <= m.doneStep {
			m.pools[g].give(t)
		} else if len(t) > 0 {
			m.draining = append(m.draining, drain{after: after, group: int32(g), blocks: append([]int32(nil), t...)})
		}
		s.tables[g] = t[:0]
	}
	return nil
}

// drained frees what waited for steps that are done now.
func (m *Manager) drained() {
	kept := m.draining[:0]
	for _, d := range m.draining {
		if d.after <= m.doneStep {
			m.pools[d.group].give(d.blocks)
		} else {
			kept = append(kept, d)
		}
	}
	clear(m.draining[len(kept):])
	m.draining = kept
}

// missing is the most blocks that s lacks in any group to hold n tokens.
func (m *Manager) missing(s *slot, n int32) int32 {
	most := int32(0)
	for g := range m.pools {
		most = max(most, m.blocksFor(n)-int32(len(s.tables[g])))
	}
	return most
}

func (m *Manager) blocksFor(tokens int32) int32 { return (tokens + m.page - 1) / m.page }

// free is the number of free blocks of the scarcest group.
func (m *Manager) free() int {
	n := len(m.pools[0].stack)
	for g := range m.pools[1:] {
		n = min(n, len(m.pools[g+1].stack))
	}
	return n
}

// drainingBlocks is what will be free in every group when the steps in flight end.
func (m *Manager) drainingBlocks() int32 {
	n := int32(-1)
	for g := range m.pools {
		sum := int32(0)
		for _, d := range m.draining {
			if d.group == int32(g) {
				sum += int32(len(d.blocks))
			}
		}
		if n < 0 || sum < n {
			n = sum
		}
	}
	return n
}

func (m *Manager) at(n Slot) (*slot, error) {
	if n < 0 || int(n) >= len(m.slots) {
		return nil, fmt.Errorf("%w: there is no slot %d", ErrProtocol, n)
	}
	return &m.slots[n], nil
}

// Check verifies that every block is free, owned by one slot or draining, once.
func (m *Manager) Check() error {
	for g := range m.pools {
		seen := make([]bool, m.pools[g].total)
		see := func(where string, blocks []int32) error {
			for _, b := range blocks {
				if seen[b] {
					return fmt.Errorf("blockmgr: block %d of group %d is held twice, at last as %s", b, g, where)
				}
				seen[b] = true
			}
			return nil
		}
		err := see("free", m.pools[g].stack)
		for _, d := range m.draining {
			if d.group == int32(g) {
				err = errors.Join(err, see("draining", d.blocks))
			}
		}
		for i := range m.slots {
			err = errors.Join(err, see(fmt.Sprintf("slot %d", i), m.slots[i].tables[g]))
		}
		for b, ok := range seen {
			if !ok {
				err = errors.Join(err, fmt.Errorf("blockmgr: block %d of group %d is lost", b, g))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
