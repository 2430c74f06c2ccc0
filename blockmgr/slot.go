package blockmgr

// slot is what is known of a sequence.
type slot struct {
	number  Slot
	open    bool
	started bool      // was granted a row
	solo    bool      // nobody starts beside it
	granted uint64    // the step of its last grant
	room    int32     // tokens that it was promised room for
	tables  [][]int32 // per group
	base    []int32   // per group: the index of the first block in the table
	behind  [][]int32 // per group: those before it that left while the step that wrote them ran
	forked  bool      // the executor has not heard of the tables yet
	tail    bool      // the last block of each table is another's too, and not full

	salt     uint64
	epoch    uint32
	ids      []int32  // known tokens
	prompt   int32    // of which were known when it opened
	chain    []uint64 // per full page of ids: the hash up to its end
	path     []*node  // per leading page that is published: what as
	private  bool     // nothing is published
	barred   bool     // nor is any more, since blocks were written by two weight epochs
	frontier uint64   // chain of the page that it computes next, while registered as such
	ahead    bool     // registered
}

// pages brings chain up to the full pages of ids, at most n, and says how many there are.
func (s *slot) pages(page, n int32, root uint64) int32 {
	n = min(n, int32(len(s.ids))/page)
	for i := int32(len(s.chain)); i < n; i++ {
		before := root
		if i > 0 {
			before = s.chain[i-1]
		}
		s.chain = append(s.chain, extend(before, s.ids[i*page:(i+1)*page]))
	}
	return n
}

// end is the index behind the last block of group g.
func (s *slot) end(g int) int32 { return s.base[g] + int32(len(s.tables[g])) }

// longest is the length of the longest table.
func (s *slot) longest() int32 {
	n := 0
	for _, t := range s.tables {
		n = max(n, len(t))
	}
	return int32(n)
}

// block is the one of index i in group g, -1: s has it no more.
func (s *slot) block(g int, i int32) int32 {
	if i >= s.base[g] {
		return s.tables[g][i-s.base[g]]
	}
	if i += int32(len(s.behind[g])) - s.base[g]; i >= 0 {
		return s.behind[g][i]
	}
	return -1
}

// forget drops what block knew of those that left the tables.
func (s *slot) forget() {
	for g, b := range s.behind {
		if len(b) > 0 {
			s.behind[g] = b[:0]
		}
	}
}

// last is the deepest published node, nil: none.
func (s *slot) last() *node {
	if len(s.path) == 0 {
		return nil
	}
	return s.path[len(s.path)-1]
}
