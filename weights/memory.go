package weights

import "slices"

// align is where tensors begin: at cache lines.
const align = 64

func aligned(n int) int { return (n + align - 1) &^ (align - 1) }

// block is one piece of memory that tensors are cut from. Sets share it: one that
// differs from another by a few tensors has the other blocks in common with it.
type block struct {
	size int    // bytes, a multiple of align
	data []byte // nil until it is needed
	sets int    // sets that have tensors in it
}

// open makes sure that there is memory, whose contents may be anything.
func (b *block) open() {
	if b.data == nil {
		b.data = make([]byte, b.size)
	}
}

// pool keeps memory that nobody uses, by its size, for what needs it next.
type pool struct {
	idle  map[int][][]byte
	bytes int
}

func (p *pool) put(data []byte) {
	if p.idle == nil {
		p.idle = map[int][][]byte{}
	}
	p.idle[len(data)] = append(p.idle[len(data)], data)
	p.bytes += len(data)
}

// take finds memory of n bytes, nil when there is none. What is larger is not cut: a
// piece that is in use would keep all of it when the rest is given up.
func (p *pool) take(n int) []byte {
	list := p.idle[n]
	if len(list) == 0 {
		return nil
	}
	data := list[len(list)-1]
	p.idle[n] = slices.Delete(list, len(list)-1, len(list)) // clears the place, too
	p.bytes -= n
	return data
}

func (p *pool) clear() { *p = pool{} }

// memory counts what the sets of a Store take.
type memory struct {
	taken int // bytes of blocks that are in use or reserved, and of staging
	pool
}

// reserve counts blocks as taken, and gives them memory where some is idle.
func (m *memory) reserve(blocks []*block) {
	for _, b := range blocks {
		m.taken += b.size
		b.data = m.take(b.size)
	}
}

// release takes a block back.
func (m *memory) release(b *block) {
	m.taken -= b.size
	if b.data != nil {
		m.put(b.data)
	}
}
