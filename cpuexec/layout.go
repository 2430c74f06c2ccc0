package cpuexec

import (
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
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

	groups []cacheGroup
	layers []layerPlace // of the model
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

// maxGroups is how many kinds of attention there are.
const maxGroups = 2

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
	l.layGroups(c, d)
	return l
}

// layGroups divides the layers. A window that holds the whole context is full attention.
func (l *layout) layGroups(c *Config, d *dims) {
	var number [maxGroups]int
	of := func(layer int) model.Attention {
		if layer < len(c.Model.Attn) && c.Model.Attn[layer] == model.Sliding && c.Model.Window < c.MaxContext {
			return model.Sliding
		}
		return model.Full
	}
	for kind, window := range [maxGroups]int{model.Full: c.MaxContext, model.Sliding: c.Model.Window} {
		number[kind] = len(l.groups)
		g := cacheGroup{window: window}
		for layer := range d.layers {
			if of(layer) == model.Attention(kind) {
				g.layers++
			}
		}
		if g.block = g.layers * l.page; g.layers > 0 {
			l.groups = append(l.groups, g)
		}
	}
	for i := range l.groups[1:] {
		l.groups[i+1].host = l.groups[i].host + c.HostBlocks*l.groups[i].block
	}
	var laid [maxGroups]int // layers
	for layer := range d.layers {
		g := number[of(layer)]
		l.layers = append(l.layers, layerPlace{group: g, block: l.groups[g].block, page: laid[g] * l.page})
		laid[g]++
	}
}

// allBlocks is the size of a block of every group.
func (l *layout) allBlocks() int { return len(l.layers) * l.page }

// at is where in a pool the part of a key head begins. A sector holds a whole number of
// blocks of each group, so that these are counted from the beginning of the pool.
func (l *layout) at(block int32, layer, head int) int {
	p := &l.layers[layer]
	return int(block)*p.block + p.page + head*l.head
}

// geometry is what groups that share memory do so by.
func (l *layout) geometry() executor.Geometry {
	g := executor.Geometry{PageSize: l.pageSize, PageBytes: int64(l.page)}
	for i := range l.groups {
		g.Layers = append(g.Layers, l.groups[i].layers)
	}
	return g
}

func wholeLines(n int) int { return int(lineBytes(int64(n))) }
