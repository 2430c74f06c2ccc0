package text

// automaton finds the first of some strings in a text that comes byte by byte,
// in time linear in both, after A. V. Aho and M. J. Corasick, "Efficient string
// matching: an aid to bibliographic search" (1975). Its states are the prefixes
// of the strings; state 0 is the empty one. It is read only once it is made.
type automaton struct {
	nodes []node
	first [256]int32 // state after a byte in state 0
}

// node is a state: the longest end of the text that is a prefix of a string.
type node struct {
	b              byte  // its last
	child, sibling int32 // states that are one byte longer, as a list; 0: none
	fail           int32 // the longest shorter end of it that is a state
	depth          int32 // bytes
	found          int32 // the longest string that it ends with; -1: none
}

// newAutomaton makes the automaton of strings, none of them empty. Of equal
// strings the first is found.
func newAutomaton(list []string) *automaton {
	a := &automaton{nodes: []node{{found: -1}}}
	for i, s := range list {
		a.add(s, int32(i))
	}
	a.link()
	return a
}

func (a *automaton) add(s string, index int32) {
	at := int32(0)
	for k := range len(s) {
		to := a.child(at, s[k])
		if to == 0 {
			to = int32(len(a.nodes))
			a.nodes = append(a.nodes, node{b: s[k], sibling: a.nodes[at].child, depth: int32(k + 1), found: -1})
			a.nodes[at].child = to
		}
		at = to
	}
	if a.nodes[at].found < 0 {
		a.nodes[at].found = index
	}
}

// link sets what a state falls back to, shorter states first.
func (a *automaton) link() {
	for to := a.nodes[0].child; to != 0; to = a.nodes[to].sibling {
		a.first[a.nodes[to].b] = to
	}
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for to := a.nodes[at].child; to != 0; to = a.nodes[to].sibling {
			n := &a.nodes[to]
			if at != 0 {
				n.fail = a.next(a.nodes[at].fail, n.b)
			}
			if n.found < 0 {
				n.found = a.nodes[n.fail].found
			}
			queue = append(queue, to)
		}
	}
}

// next is the state after a byte.
func (a *automaton) next(at int32, b byte) int32 {
	for at != 0 {
		if to := a.child(at, b); to != 0 {
			return to
		}
		at = a.nodes[at].fail
	}
	return a.first[b]
}

// child is the state that is longer by b; 0: none.
func (a *automaton) child(at int32, b byte) int32 {
	to := a.nodes[at].child
	for to != 0 && a.nodes[to].b != b {
		to = a.nodes[to].sibling
	}
	return to
}
