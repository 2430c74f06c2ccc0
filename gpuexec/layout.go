package gpuexec

import (
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
)

// layout is where K and V lie in a block of the cache. A block has a page for every layer of its
// group, a page for every key head K, then V, each
// [position][element] in bf16, a head's elements padded as kernels.HeadWidth says.
type layout struct {
	pageSize int
	head     int // bytes of K and V of a key head in a page
	page     int // of all key heads

	division executor.Division
	groups   []cacheGroup
	layers   []layerPlace // of the model
}

// cacheGroup is the layers of a kind of attention, whose blocks have a table of their own.
type cacheGroup struct {
	window int   // positions that a query sees at most; 0: all
	block  int   // size in bytes
	host   int64 // where its blocks of the host pool begin
}

// layerPlace is where a layer has its page in the blocks of its group.
type layerPlace struct{ group, page int }

func layoutOf(c *Config) layout {
	l := layout{pageSize: c.PageSize, head: 2 * 2 * kernels.HeadWidth(c.Model.HeadDim) * c.PageSize}
	l.page = c.Model.KVHeads * l.head
	division, host := executor.Divide(c.Model, c.MaxContext), int64(0)
	l.division = division
	for g, window := range division.Windows {
		group := cacheGroup{window: window, block: division.Layers[g] * l.page, host: host}
		l.groups = append(l.groups, group)
		host += int64(c.HostBlocks) * int64(group.block)
	}
	for _, p := range division.Places {
		l.layers = append(l.layers, layerPlace{group: p.Group, page: p.Page * l.page})
	}
	return l
}
