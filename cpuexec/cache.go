package cpuexec

import (
	"encoding/binary"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
)

// cache is the KV pool and the host pool, whose blocks look the same.
type cache struct {
	layout
	mem, host []byte
}

// newCache cuts the pool out of a and the host pool out of host, of the sizes that m has.
func newCache(a, host *area, c *Config, d *dims, m *Memory) cache {
	return cache{layout: layoutOf(c, d), mem: a.part(m.KV).mem, host: host.part(m.Host).mem}
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

// tile is the one of a sequence that begins at its position p.
func (c *cache) tile(q *slot, p, layer, head int) tile {
	return tile{page: c.mem[c.at(c.block(q, p, layer), layer, head):], at: p % c.pageSize}
}

// block is the one in which a sequence has position p of a layer.
func (c *cache) block(q *slot, p, layer int) int32 {
	return q.tables[c.layers[layer].group][p/c.pageSize]
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
// comes the tile then, which kernels fetch meanwhile, or the same if there is none. Scores are
// capped at top, if it is not 0.
func (c *cache) attend(set *kernels.Set, q *queries, this, then tile, states []float32, n []int32, top float32) {
	v := this.page[c.k:]
	switch at := this.at; c.kvType {
	case KVBF16:
		set.AttendBF16(q.floats, view[uint16](this.page)[at:], view[uint16](v)[at*c.headDim:], view[uint16](then.page)[then.at:],
			states, c.pageSize, n, c.headDim, top)
	case KVInt8:
		kScales := v[c.v:]
		set.AttendInt8(q.packed, this.page[4*at:], v[at*c.headDim:], then.page[4*then.at:],
			view[float32](kScales)[at:], view[float32](kScales[c.scales:])[at:], states, c.pageSize, n, c.headDim, top)
	default:
		set.Attend(q.floats, view[float32](this.page)[at:], view[float32](v)[at*c.headDim:], view[float32](then.page)[then.at:],
			states, c.pageSize, n, c.headDim, top)
	}
}

// attendOdd is attend for up to 3 positions of a cache in int8 that lie within a group of
// V, not where it begins: they are moved there, into v.
func (c *cache) attendOdd(set *kernels.Set, q *queries, this tile, v []byte, states []float32, n []int32, top float32) {
	odd := this.at % kernels.Group
	group := this.page[c.k+(this.at-odd)*c.headDim:]
	for d := range c.headDim {
		binary.LittleEndian.PutUint32(v[4*d:], binary.LittleEndian.Uint32(group[4*d:])>>(8*odd))
	}
	kScales := this.page[c.k+c.v:]
	set.AttendInt8(q.packed, this.page[4*this.at:], v, nil, view[float32](kScales)[this.at:], view[float32](kScales[c.scales:])[this.at:],
		states, c.pageSize, n, c.headDim, top)
}

// ends are the blocks, all layers of their group, that p copies between.
func (c *cache) ends(p *executor.Copy) (from, to []byte) {
	g := &c.groups[p.Group]
	from, to = c.mem, c.mem
	switch host := c.host[g.host:]; p.Kind {
	case executor.CopyOut:
		to = host
	case executor.CopyIn:
		from = host
	}
	return from[int(p.From)*g.block:][:g.block], to[int(p.To)*g.block:][:g.block]
}
