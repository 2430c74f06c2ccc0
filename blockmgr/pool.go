package blockmgr

// pool is the blocks of one group: each is free, referenced or idle.
type pool struct {
	free []int32 // a stack, so that a small load stays in a small and warm part of the cache
	idle lru
	refs []int32 // tables and drains that hold a block
	node []*node // what a block is published as; nil: private
}

func newPool(n int) pool {
	p := pool{free: make([]int32, n), idle: newLRU(n), refs: make([]int32, n), node: make([]*node, n)}
	for i := range p.free {
		p.free[i] = int32(n - 1 - i)
	}
	return p
}

// room is how many blocks can be had.
func (p *pool) room() int { return len(p.free) + p.idle.count }

// acquire adds a reference to a published block.
func (p *pool) acquire(b int32) {
	if p.refs[b] == 0 {
		p.idle.remove(b)
	}
	p.refs[b]++
}

// unref takes a reference away. Whoever was last leaves the block idle when it is
// published, else free.
func (p *pool) unref(b int32) {
	p.refs[b]--
	switch {
	case p.refs[b] > 0:
	case p.node[b] != nil:
		p.idle.push(b)
	default:
		p.free = append(p.free, b)
	}
}

// lru is a list of blocks in the order in which they were pushed, linked through
// two arrays; entry n is the head that closes the ring.
type lru struct {
	next, prev []int32
	count      int
}

func newLRU(n int) lru {
	l := lru{next: make([]int32, n+1), prev: make([]int32, n+1)}
	l.next[n], l.prev[n] = int32(n), int32(n)
	return l
}

func (l *lru) head() int32 { return int32(len(l.next) - 1) }

// push adds b as the most recent.
func (l *lru) push(b int32) {
	h := l.head()
	last := l.prev[h]
	l.next[last], l.prev[b], l.next[b], l.prev[h] = b, last, h, b
	l.count++
}

func (l *lru) remove(b int32) {
	l.next[l.prev[b]], l.prev[l.next[b]] = l.next[b], l.prev[b]
	l.count--
}

// oldest is the least recent block; the list must not be empty.
func (l *lru) oldest() int32 { return l.next[l.head()] }
