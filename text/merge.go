package text

// symbol is a token of a word while it is merged; prev and next make a list of
// the symbols that are left. A symbol that was merged into its left neighbour
// has id gone.
type symbol struct {
	id         int32
	prev, next int32 // indices, -1: none
}

const gone = -1

// candidate is a pair of neighbours that may be merged: the symbol at index at,
// with the ids both had when the candidate was made. One whose symbols have
// changed since is stale and skipped.
type candidate struct {
	rank        int32
	at          int32
	left, right int32
	id          int32 // of the merged token
}

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

// merger merges the symbols of one word, lowest rank first and leftmost first
// among equals, in O(n log n). It is reused from word to word.
type merger struct {
	symbols []symbol
	heap    []candidate // binary heap, the first to merge at 0
}

// start sets the word: one symbol per id.
func (m *merger) start(ids []int32) {
	m.symbols = m.symbols[:0]
	for i, id := range ids {
		m.symbols = append(m.symbols, symbol{id: id, prev: int32(i) - 1, next: int32(i) + 1})
	}
	if n := len(m.symbols); n > 0 {
		m.symbols[n-1].next = -1
	}
}

// run merges until no pair is in merges.
func (m *merger) run(merges map[pair]merge) {
	m.heap = m.heap[:0]
	for i := range m.symbols {
		m.propose(int32(i), merges)
	}
	for len(m.heap) > 0 {
		c := m.pop()
		left := &m.symbols[c.at]
		if left.id != c.left || left.next < 0 || m.symbols[left.next].id != c.right {
			continue
		}
		right := &m.symbols[left.next]
		left.id, right.id = c.id, gone
		left.next = right.next
		if left.next >= 0 {
			m.symbols[left.next].prev = c.at
		}
		if left.prev >= 0 {
			m.propose(left.prev, merges)
		}
		m.propose(c.at, merges)
	}
}

// appendTo appends the ids that are left to dst.
func (m *merger) appendTo(dst []int32) []int32 {
	if len(m.symbols) == 0 {
		return dst
	}
	for i := int32(0); i >= 0; i = m.symbols[i].next {
		dst = append(dst, m.symbols[i].id)
	}
	return dst
}

// propose pushes the pair that starts at index at, when it can be merged.
func (m *merger) propose(at int32, merges map[pair]merge) {
	s := m.symbols[at]
	if s.next < 0 {
		return
	}
	right := m.symbols[s.next].id
	if g, ok := merges[pair{s.id, right}]; ok {
		m.push(candidate{rank: g.rank, at: at, left: s.id, right: right, id: g.id})
	}
}

func (m *merger) push(c candidate) {
	m.heap = append(m.heap, c)
	i := len(m.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !c.before(m.heap[parent]) {
			break
		}
		m.heap[i] = m.heap[parent]
		i = parent
	}
	m.heap[i] = c
}

func (m *merger) pop() candidate {
	top := m.heap[0]
	last := len(m.heap) - 1
	c := m.heap[last]
	m.heap = m.heap[:last]
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && m.heap[child+1].before(m.heap[child]) {
			child++
		}
		if !m.heap[child].before(c) {
			break
		}
		m.heap[i] = m.heap[child]
		i = child
	}
	if last > 0 {
		m.heap[i] = c
	}
	return top
}
