package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
)

// cache is the KV pool and the host pool, whose blocks look the same.
type cache struct {
	layout
	mem, host []byte
}

// newCache cuts the pool out of a and the host pool out of host.
func newCache(a, host *area, c *Config, d *dims, blocks int) cache {
	l := layoutOf(c, d)
	size := int64(l.block)
	return cache{
		layout: l,
		mem:    a.part(poolBytes(int64(blocks), size)).mem,
		host:   host.part(int64(c.HostBlocks) * size).mem,
	}
}

// tile is where a tile begins: at a position of what a page has of a key head.
type tile struct {
	page []byte
	at   int
}

// part is what a block has of a key head: K, V and their scales, each reaching on to the
// end of the pool, since kernels read behind a page's last position.
func (c *cache) part(block int32, layer, head int) (k, v, kScales, vScales []byte) {
	k = c.mem[c.at(block, layer, head):]
	v = k[c.k:]
	kScales = v[c.v:]
	return k, v, kScales, kScales[c.scales:]
}

// tile is the one that begins at position p of a sequence with this block table.
func (c *cache) tile(table []int32, p, layer, head int) tile {
	return tile{page: c.mem[c.at(table[p/c.pageSize], layer, head):], at: p % c.pageSize}
}

// write stores K and V of position at of a block, rounded to the cache's type. It writes
// nothing of other positions, which other threads may write meanwhile.
func (c *cache) write(set *kernels.Set, block int32, layer, head, at int, k, v []float32) {
	kPart, vPart, kScales, vScales := c.part(block, layer, head)
	switch c.kvType {
	case KVBF16:
		set.StoreBF16(k, v, view[uint16](kPart), view[uint16](vPart), c.pageSize, at)
	case KVInt8:
		set.StoreInt8(k, v, kPart, vPart, view[float32](kScales), view[float32](vScales), c.pageSize, at)
	default:
		page := view[float32](kPart)
		for d, x := range k {
			page[d*c.pageSize+at] = x
		}
		copy(view[float32](vPart)[at*c.headDim:], v)
	}
}

// key reads K of position at of a block.
func (c *cache) key(block int32, layer, head, at int, k []float32) {
	part, _, scales, _ := c.part(block, layer, head)
	switch c.kvType {
	case KVBF16:
		kernels.LoadKeyBF16(view[uint16](part), k, c.pageSize, at)
	case KVInt8:
		kernels.LoadKeyInt8(part, view[float32](scales), k, c.pageSize, at)
	default:
		page := view[float32](part)
		for d := range k {
			k[d] = page[d*c.pageSize+at]
		}
	}
}

// value reads V of position at of a block.
func (c *cache) value(block int32, layer, head, at int, v []float32) {
	_, part, _, scales := c.part(block, layer, head)
	switch c.kvType {
	case KVBF16:
		kernels.LoadValueBF16(view[uint16](part), v, at)
	case KVInt8:
		kernels.LoadValueInt8(part, view[float32](scales), v, at)
	default:
		copy(v, view[float32](part)[at*c.headDim:])
	}
}

// attend adds n[r] positions, from position at of a page on, to the state of query r. Then
// comes the tile then, which kernels fetch meanwhile, or the same if there is none.
func (c *cache) attend(set *kernels.Set, q *queries, this, then tile, states []float32, n []int32) {
	v := this.page[c.k:]
	switch at := this.at; c.kvType {
	case KVBF16:
		set.AttendBF16(q.floats, view[uint16](this.page)[at:], view[uint16](v)[at*c.headDim:], view[uint16](then.page)[then.at:],
			states, c.pageSize, n, c.headDim)
	case KVInt8:
		kScales := v[c.v:]
		set.AttendInt8(q.packed, this.page[4*at:], v[at*c.headDim:], then.page[4*then.at:],
			view[float32](kScales)[at:], view[float32](kScales[c.scales:])[at:], states, c.pageSize, n, c.headDim)
	default:
		set.Attend(q.floats, view[float32](this.page)[at:], view[float32](v)[at*c.headDim:], view[float32](then.page)[then.at:],
			states, c.pageSize, n, c.headDim)
	}
}

// ends are the blocks, all their layers, that p copies between.
func (c *cache) ends(p *executor.Copy) (from, to []byte) {
	from, to = c.mem, c.mem
	switch p.Kind {
	case executor.CopyOut:
		to = c.host
	case executor.CopyIn:
		from = c.host
	}
	return from[int(p.From)*c.block:][:c.block], to[int(p.To)*c.block:][:c.block]
}
