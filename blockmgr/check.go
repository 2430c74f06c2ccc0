package blockmgr

import (
	"errors"
	"fmt"
)

// Check verifies the books, at a cost that grows with the cache: every block is
// free, idle or referenced, or in a sector of another group; its references are the
// tables and drains that name it; no table is longer than its window makes it; and
// what is published is found where the tree has it.
func (m *Manager) Check() error {
	var err error
	for g := range m.pools {
		err = errors.Join(err, m.checkGroup(g))
	}
	for _, first := range m.tree.index {
		for n := first; n != nil; n = n.next {
			for g, b := range n.blocks {
				if b >= 0 && m.pools[g].node[b] != n {
					err = errors.Join(err, fmt.Errorf("blockmgr: block %d of group %d is published in a node that it does not name", b, g))
				}
			}
		}
	}
	return err
}

func (m *Manager) checkGroup(g int) error {
	p := &m.pools[g]
	refs := make([]int32, len(p.refs))
	for _, d := range m.draining {
		if d.group == int32(g) {
			refs[d.block]++
		}
	}
	for i := range m.slots {
		t := m.slots[i].tables[g]
		for _, b := range t {
			refs[b]++
		}
		if len(t) > int(m.bound[g]) {
			return fmt.Errorf("blockmgr: slot %d holds %d blocks of group %d, more than %d", i, len(t), g, m.bound[g])
		}
	}
	where, idle := make([]int, len(p.refs)), make([]bool, len(p.refs))
	for _, b := range p.free.list() {
		where[b]++
	}
	for _, b := range p.idle.list() {
		where[b]++
		idle[b] = true
		if p.node[b] == nil {
			return fmt.Errorf("blockmgr: block %d of group %d is idle but not published", b, g)
		}
	}
	if free, idle := len(p.free.list()), len(p.idle.list()); free != int(p.free.count) || idle != int(p.idle.count) {
		return fmt.Errorf("blockmgr: group %d counts %d free and %d idle blocks and has %d and %d", g, p.free.count, p.idle.count, free, idle)
	}
	for b, n := range refs {
		if p.refs[b] != n {
			return fmt.Errorf("blockmgr: block %d of group %d counts %d references and has %d", b, g, p.refs[b], n)
		}
		if n > 0 {
			where[b]++
		}
		places := 1
		if p.sectors != nil && p.sectors.owner[b/int(p.per)] != int32(g) {
			places = 0 // the memory is another group's
		}
		if where[b] != places {
			return fmt.Errorf("blockmgr: block %d of group %d is in %d places, not %d", b, g, where[b], places)
		}
	}
	return p.checkSectors(g, idle)
}

// checkSectors verifies the counts of the sectors that group g owns.
func (p *pool) checkSectors(g int, idle []bool) error {
	if p.sectors == nil {
		return nil
	}
	whole := int32(0)
	for i, owner := range p.sectors.owner {
		if owner != int32(g) {
			continue
		}
		var used, idles int32
		for b := i * int(p.per); b < (i+1)*int(p.per); b++ {
			if p.refs[b] > 0 {
				used++
			}
			if idle[b] {
				idles++
			}
		}
		if used != p.sectors.used[i] || idles != p.sectors.idle[i] || used+idles == 0 {
			return fmt.Errorf("blockmgr: sector %d of group %d counts %d referenced and %d idle blocks and has %d and %d", i, g, p.sectors.used[i], p.sectors.idle[i], used, idles)
		}
		if used == 0 {
			whole++
		}
	}
	if whole != p.whole {
		return fmt.Errorf("blockmgr: group %d counts %d sectors to give up and has %d", g, p.whole, whole)
	}
	return nil
}

// list is the blocks of a ring, the oldest first.
func (r *ring) list() (blocks []int32) {
	for b := r.oldest(); b != r.head(); b = r.next[b] {
		blocks = append(blocks, b)
	}
	return blocks
}
