package blockmgr

import (
	"errors"
	"fmt"
)

// Check verifies the books, at a cost that grows with the cache: every block is
// free, idle or referenced, its references are the tables and drains that name it,
// and what is published is found where the tree has it.
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
			count(refs, d.blocks)
		}
	}
	for i := range m.slots {
		count(refs, m.slots[i].tables[g])
	}
	where := make([]int, len(p.refs))
	for _, b := range p.free {
		where[b]++
	}
	idle := 0
	for b := p.idle.next[p.idle.head()]; b != p.idle.head(); b = p.idle.next[b] {
		where[b]++
		idle++
		if p.node[b] == nil {
			return fmt.Errorf("blockmgr: block %d of group %d is idle but not published", b, g)
		}
	}
	if idle != p.idle.count {
		return fmt.Errorf("blockmgr: group %d counts %d idle blocks and has %d", g, p.idle.count, idle)
	}
	for b, n := range refs {
		if p.refs[b] != n {
			return fmt.Errorf("blockmgr: block %d of group %d counts %d references and has %d", b, g, p.refs[b], n)
		}
		if n > 0 {
			where[b]++
		}
		if where[b] != 1 {
			return fmt.Errorf("blockmgr: block %d of group %d is in %d places", b, g, where[b])
		}
	}
	return nil
}

func count(refs []int32, blocks []int32) {
	for _, b := range blocks {
		refs[b]++
	}
}
