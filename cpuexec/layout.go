package cpuexec

import (
	"github.com/cbactor/cbactor/executor"
)

// layout is where K and V lie in a block of the cache, in bytes. A block has a page for
// every layer of its group, a page for every key head K, then V, in the order that the
// kernels of the type read, then in int8 the scales of K and of V. Each part begins at a
// cache line.
type layout struct {
	kvType   KVType
	pageSize int
	headDim  int

	k, v, scales int // sizes: of K, of V, of the scales of either
	head, page   int // likewise, each of them made of those before

	division executor.Division
	groups   []cacheGroup
	layers   []layerPlace // of the model
}

// cacheGroup is the layers of a kind of attention, whose blocks have a table of their own.
type cacheGroup struct {
	window int // positions that a query sees at most; of full attention the whole context
	layers int
	block  int // size
	host   int // where its blocks of the host pool begin
}

// layerPlace is where a layer has its page in the blocks of its group.
type layerPlace struct {
	group, block, page int
}

func layoutOf(c *Config, d *dims) layout {
	l := layout{kvType: c.KVType, pageSize: c.PageSize, headDim: d.headDim}
	n := d.headDim * c.PageSize
	switch c.KVType {
	case KVBF16:
		l.k, l.v = wholeLines(2*n), wholeLines(2*n)
	case KVInt8:
		l.k = wholeLines(n)
		l.v = wholeLines((c.PageSize + 3) / 4 * 4 * d.headDim)
		l.scales = wholeLines(4 * c.PageSize)
	default:
		l.k, l.v = wholeLines(4*n), wholeLines(4*n)
	}
	l.head = l.k + l.v + 2*l.scales
	l.page = d.kvHeads * l.head
	l.layGroups(c)
	return l
}

// layGroups divides the layers.
func (l *layout) layGroups(c *Config) {
	division, host := executor.Divide(c.Model, c.MaxContext), 0
	l.division = division
	for g, window := range division.Windows {
		if window == 0 {
			window = c.MaxContext
		}
		group := cacheGroup{window: window, layers: division.Layers[g], block: division.Layers[g] * l.page, host: host}
		l.groups = append(l.groups, group)
		host += c.HostBlocks * group.block
	}
	for _, p := range division.Places {
		l.layers = append(l.layers, layerPlace{group: p.Group, block: l.groups[p.Group].block, page: p.Page * l.page})
	}
}

// at is where in a pool the part of a key head begins. A sector holds a whole number of
// blocks of each group, so that these are counted from the beginning of the pool.
func (l *layout) at(block int32, layer, head int) int {
	p := &l.layers[layer]
	return int(block)*p.block + p.page + head*l.head
}

func wholeLines(n int) int { return int(lineBytes(int64(n))) }
