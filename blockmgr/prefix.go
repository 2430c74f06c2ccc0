package blockmgr

import (
	"math/bits"
	"slices"
)

// node is one published page: the tokens on the way from the root to it are those
// of the blocks it names. It lives as long as it names a block, or a child or a
// slot names it.
type node struct {
	parent *node // nil: its page is the first
	salt   uint64
	epoch  uint32
	chain  uint64 // hash of everything from the root on: where the index has it
	tokens []int32
	blocks []int32 // per group, -1: none
	holds  int32   // children, and slots whose path it is on
	next   *node   // of the same chain
}

// tree is the index of published pages.
type tree struct {
	key   uint64 // of the hash
	index map[uint64]*node
	spare *node
}

// root is the chain before the first page.
func (t *tree) root(salt uint64, epoch uint32) uint64 {
	return mix(mix(t.key, salt), uint64(epoch))
}

// extend is the chain behind one more page.
func extend(chain uint64, tokens []int32) uint64 {
	for len(tokens) >= 2 {
		chain = mix(chain, uint64(uint32(tokens[0]))<<32|uint64(uint32(tokens[1])))
		tokens = tokens[2:]
	}
	for _, id := range tokens {
		chain = mix(chain, uint64(uint32(id)))
	}
	return chain
}

// mix is the multiply-and-fold step of wyhash (Wang Yi, 2019). A collision costs a
// comparison and nothing else: find compares tokens.
func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, v^0xe7037ed1a0b428db)
	return hi ^ lo ^ h
}

// find is the child of parent that holds tokens, nil: none.
func (t *tree) find(chain uint64, parent *node, salt uint64, epoch uint32, tokens []int32) *node {
	for n := t.index[chain]; n != nil; n = n.next {
		if n.parent == parent && n.salt == salt && n.epoch == epoch && slices.Equal(n.tokens, tokens) {
			return n
		}
	}
	return nil
}

// add makes a child of parent.
func (t *tree) add(chain uint64, parent *node, salt uint64, epoch uint32, tokens []int32, groups int) *node {
	n := t.spare
	if n != nil {
		t.spare = n.next
	} else {
		n = &node{blocks: make([]int32, groups)}
	}
	for g := range n.blocks {
		n.blocks[g] = -1
	}
	*n = node{parent: parent, salt: salt, epoch: epoch, chain: chain, tokens: append(n.tokens[:0], tokens...), blocks: n.blocks, next: t.index[chain]}
	t.index[chain] = n
	if parent != nil {
		parent.holds++
	}
	return n
}

// drop removes n if nothing needs it any more, and then perhaps its parent.
func (t *tree) drop(n *node) {
	for n != nil && n.holds == 0 && !slices.ContainsFunc(n.blocks, func(b int32) bool { return b >= 0 }) {
		if first := t.index[n.chain]; first != n {
			for first.next != n {
				first = first.next
			}
			first.next = n.next
		} else if n.next != nil {
			t.index[n.chain] = n.next
		} else {
			delete(t.index, n.chain)
		}
		parent := n.parent
		n.parent, n.next = nil, t.spare
		t.spare = n
		if n = parent; n != nil {
			n.holds--
		}
	}
}
