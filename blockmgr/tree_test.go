package blockmgr

import (
	"fmt"
	"slices"
)

// checkTree wants every node of the tree to be needed, by a block, a child or a slot,
// and held as often as it is: what is not would be kept for ever.
func (m *Manager) checkTree() error {
	holds := map[*node]int32{}
	for i := range m.slots {
		for _, n := range m.slots[i].path {
			holds[n]++
		}
	}
	var all []*node
	for _, first := range m.tree.index {
		for n := first; n != nil; n = n.next {
			all = append(all, n)
			if n.parent != nil {
				holds[n.parent]++
			}
		}
	}
	for _, n := range all {
		named := slices.ContainsFunc(n.blocks, func(b int32) bool { return b >= 0 })
		switch {
		case n.holds != holds[n]:
			return fmt.Errorf("node %v counts %d holds and has %d", n.tokens, n.holds, holds[n])
		case n.holds == 0 && !named:
			return fmt.Errorf("node %v is kept for nobody", n.tokens)
		}
		delete(holds, n)
	}
	if len(holds) > 0 {
		return fmt.Errorf("%d nodes are held and not in the tree", len(holds))
	}
	for _, s := range m.ahead {
		if !s.open || !s.ahead {
			return fmt.Errorf("slot %d is waited for and does not know", s.number)
		}
	}
	return nil
}
