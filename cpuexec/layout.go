package cpuexec

// layout is where K and V lie in a block of the cache, in bytes. A block has a page for
// every layer, a page for every key head K, then V, in the order that the kernels of the
// type read, then in int8 the scales of K and of V. Each part begins at a cache line.
type layout struct {
	kvType   KVType
	pageSize int
	headDim  int

	k, v, scales      int // sizes: of K, of V, of the scales of either
	head, page, block int // likewise, each of them made of those before
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
	l.block = d.layers * l.page
	return l
}

// at is where in a pool the part of a key head begins.
func (l *layout) at(block int32, layer, head int) int {
	return int(block)*l.block + layer*l.page + head*l.head
}

func wholeLines(n int) int { return int(lineBytes(int64(n))) }
