package gpuexec

import (
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// layout is where K and V lie in a block of the cache. A block has a page for every layer of its
// group, a page for every key head K, then V, each
// [position][element] in bf16, a head's elements padded as kernels.HeadWidth says.
type layout struct {
	pageSize int
	head     int // bytes of K and V of a key head in a page
	page     int // of all key heads

	groups []cacheGroup
	layers []layerPlace // of the model
}

// cacheGroup is the layers of a kind of attention, whose blocks have a table of their own.
type cacheGroup struct {
	window int // positions that a query sees at most; 0: all
	layers int
	block  int   // size in bytes
	host   int64 // where its blocks of the host pool begin
}

// layerPlace is where a layer has its page in the blocks of its group.
type layerPlace struct{ group, page int }

func layoutOf(c *Config) layout {
	l := layout{pageSize: c.PageSize, head: 2 * 2 * kernels.HeadWidth(c.Model.HeadDim) * c.PageSize}
	l.page = c.Model.KVHeads * l.head
	var number [maxGroups]int
	for kind, window := range [maxGroups]int{model.Sliding: c.Model.Window} {
		number[kind] = len(l.groups)
		g := cacheGroup{window: window}
		for layer := range c.Model.Layers {
			if c.attention(layer) == model.Attention(kind) {
				g.layers++
			}
		}
		if g.block = g.layers * l.page; g.layers > 0 {
			l.groups = append(l.groups, g)
		}
	}
	for i := range l.groups[1:] {
		l.groups[i+1].host = l.groups[i].host + int64(c.HostBlocks)*int64(l.groups[i].block)
	}
	var laid [maxGroups]int // layers
	for layer := range c.Model.Layers {
		g := number[c.attention(layer)]
		l.layers = append(l.layers, layerPlace{group: g, page: laid[g] * l.page})
		laid[g]++
	}
	return l
}

// attention is the kind of a layer. A window that holds the whole context is full attention.
func (c *Config) attention(layer int) model.Attention {
	if layer < len(c.Model.Attn) && c.Model.Attn[layer] == model.Sliding && c.Model.Window < c.MaxContext {
		return model.Sliding
	}
	return model.Full
}

// blockBytes is the size of a block of every group.
func (l *layout) blockBytes() int64 { return int64(len(l.layers)) * int64(l.page) }

// geometry is what groups that share memory do so by.
func (l *layout) geometry() executor.Geometry {
	g := executor.Geometry{PageSize: l.pageSize, PageBytes: int64(l.page)}
	for i := range l.groups {
		g.Layers = append(g.Layers, l.groups[i].layers)
	}
	return g
}
