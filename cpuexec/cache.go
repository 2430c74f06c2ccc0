package cpuexec

import "github.com/cbactor/cbactor/cpuexec/kernels"

// cache is the KV pool. A block has a page for every layer, a page has for every
// key head K as [headDim][pageSize], then V as [pageSize][headDim].
type cache struct {
	mem      []float32
	pageSize int
	headDim  int
	headLen  int // of K or V of one head in a page
	pageLen  int
	blockLen int
}

func newCache(a *area, d *dims, pageSize, blocks int) cache {
	return cache{
		mem:      cut[float32](a, blocks*d.blockFloats(pageSize)+kernels.Tile),
		pageSize: pageSize,
		headDim:  d.headDim,
		headLen:  d.headDim * pageSize,
		pageLen:  d.pageFloats(pageSize),
		blockLen: d.blockFloats(pageSize),
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

// copyBlock copies a block, all its layers.
func (c *cache) copyBlock(from, to int32) {
	copy(c.mem[int(to)*c.blockLen:][:c.blockLen], c.mem[int(from)*c.blockLen:][:c.blockLen])
}
