package blockmgr

// pool is the blocks of one group: each is free, referenced or idle, or belongs to
// a sector that the group has not opened.
type pool struct {
	free    ring // the newest goes first, so that a small load stays in a small and warm part of the cache
	idle    ring // the oldest goes first
	refs    []int32
	node    []*node  // what a block is published as; nil: private
	sectors *sectors // nil: every block is the group's for ever
	per     int32    // blocks of a sector
	whole   int32    // open sectors of which every block is free or idle
	drains  []int32  // all 0: where later counts
}

func newPool(n int) pool {
	p := pool{free: newRing(n), idle: newRing(n), refs: make([]int32, n), node: make([]*node, n), drains: make([]int32, n)}
	for b := int32(n) - 1; b >= 0; b-- {
		p.free.push(b)
	}
	return p
}

// room is how many blocks can be had without another sector.
func (p *pool) room() int32 { return p.free.count + p.idle.count }

// take gives a block its first reference: the newest free one, else the oldest
// idle one, which the caller unpublishes. There must be room.
func (p *pool) take() int32 {
	b, idle := p.free.newest(), int32(0)
	if p.free.count > 0 {
		p.free.remove(b)
	} else {
		b, idle = p.idle.oldest(), -1
		p.idle.remove(b)
	}
	p.refs[b] = 1
	p.count(b, 1, idle)
	return b
}

// acquire adds a reference to a published block.
func (p *pool) acquire(b int32) {
	if p.refs[b] == 0 {
		p.idle.remove(b)
		p.count(b, 1, -1)
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
		p.count(b, -1, 1)
	default:
		p.free.push(b)
		p.count(b, -1, 0)
	}
}

// ring is a list of blocks in the order in which they were pushed, linked through
// two arrays; entry n is the head that closes the ring.
type ring struct {
	next, prev []int32
	count      int32
}

func newRing(n int) ring {
	r := ring{next: make([]int32, n+1), prev: make([]int32, n+1)}
	r.next[n], r.prev[n] = int32(n), int32(n)
	return r
}

func (r *ring) head() int32 { return int32(len(r.next) - 1) }

// push adds b as the newest.
func (r *ring) push(b int32) {
	h := r.head()
	last := r.prev[h]
	r.next[last], r.prev[b], r.next[b], r.prev[h] = b, last, h, b
	r.count++
}

func (r *ring) remove(b int32) {
	r.next[r.prev[b]], r.prev[r.next[b]] = r.next[b], r.prev[b]
	r.count--
}

// oldest and newest are the ends of a ring that is not empty.
func (r *ring) oldest() int32 { return r.next[r.head()] }
func (r *ring) newest() int32 { return r.prev[r.head()] }
