package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
)

// cache is the KV pool. A block has a page for every layer, a page has for every
// key head K as [headDim][pageSize], then V as [pageSize][headDim]. Blocks of the
// host pool look the same.
type cache struct {
	mem      []float32
	host     []float32
	pageSize int
	headDim  int
	headLen  int // of K or V of one head in a page
	pageLen  int
	blockLen int
}

// newCache cuts the pool out of a and the host pool out of host.
func newCache(a, host *area, c *Config, d *dims, blocks int) cache {
	blockLen := d.blockFloats(c.PageSize)
	return cache{
		mem:      cut[float32](a, blocks*blockLen+kernels.Tile),
		host:     cut[float32](host, c.HostBlocks*blockLen),
		pageSize: c.PageSize,
		headDim:  d.headDim,
		headLen:  d.headDim * c.PageSize,
		pageLen:  d.pageFloats(c.PageSize),
		blockLen: blockLen,
	}
}

// head is K of a key head in a page, reaching on to the end of the pool, and V.
func (c *cache) head(block int32, layer, head int) (k, v []float32) {
	at := int(block)*c.blockLen + layer*c.pageLen + 2*head*c.headLen
	return c.mem[at:], c.mem[at+c.headLen:][:c.headLen]
}

// write stores K and V of one position.
func (c *cache) write(block int32, layer, head, at int, k, v []float32) {
	kPage, vPage := c.head(block, layer, head)
	for d, x := range k {
		kPage[d*c.pageSize+at] = x
	}
	copy(vPage[at*c.headDim:], v)
}

// ends are the blocks, all their layers, that p copies between.
func (c *cache) ends(p *executor.Copy) (from, to []float32) {
	from, to = c.mem, c.mem
	switch p.Kind {
	case executor.CopyOut:
		to = c.host
	case executor.CopyIn:
		from = c.host
	}
	return from[int(p.From)*c.blockLen:][:c.blockLen], to[int(p.To)*c.blockLen:][:c.blockLen]
}
