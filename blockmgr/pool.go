package blockmgr

// pool is the free blocks of one group, the last one given taken first, so that
// a small load stays in a small and warm part of the cache.
type pool struct {
	total int
	stack []int32
}

func newPool(n int) pool {
	p := pool{total: n, stack: make([]int32, n)}
	for i := range p.stack {
		p.stack[i] = int32(n - 1 - i)
	}
	return p
}

// take moves n blocks to the end of table.
func (p *pool) take(table []int32, n int32) []int32 {
	for range n {
		last := len(p.stack) - 1
		table = append(table, p.stack[last])
		p.stack = p.stack[:last]
	}
	return table
}

func (p *pool) give(blocks []int32) { p.stack = append(p.stack, blocks...) }
