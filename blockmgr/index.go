package blockmgr

// This file is how Transformers 5.23 addresses its cache: the rows that a step reads
// and writes, as lists of numbers. Executors here follow block tables instead, and
// sliding groups keep their blocks in order, without a ring. The functions exist for
// the golden vectors that hold the geometry against the reference.

// Rows is the row addressing of one group. A row is K or V of one token in one
// layer. The first two sectors are kept for reads and writes that go nowhere, so
// the smallest block that can be used is FirstBlock.
type Rows struct {
	PageSize, Layers int
	PerSector        int // blocks of a sector
	Window           int // of a sliding group
	Table            []int32
}

// sentinelRow stands for a token that the step itself computes: what is read there is
// replaced. Row 0, of zeros, is read for padding.
const sentinelRow = 1

// FirstBlock is the smallest block that can be used.
func (r Rows) FirstBlock() int { return 2 * r.PerSector }

// Stride is the number of rows of a block: K and V of each layer.
func (r Rows) Stride() int { return 2 * r.PageSize * r.Layers }

// Keys and Values are the first row of a layer, counted within its group, in a block.
func (r Rows) Keys(layer int) int   { return 2 * layer * r.PageSize }
func (r Rows) Values(layer int) int { return (2*layer + 1) * r.PageSize }

// Trash is the row of writes that are dropped.
func (r Rows) Trash() int { return r.Stride() * r.PerSector }

// at is the row of logical slot i, keys of the first layer.
func (r Rows) at(i int) int { return int(r.Table[i/r.PageSize])*r.Stride() + i%r.PageSize }

// FullRead lists the rows of all tokens up to those of the step.
func (r Rows) FullRead(past, query int) []int { return r.run(nil, 0, past+query) }

// FullWrite lists the rows of the step's tokens.
func (r Rows) FullWrite(past, query int) []int { return r.run(nil, past, past+query) }

func (r Rows) run(rows []int, from, to int) []int {
	for i := from; i < to; i++ {
		rows = append(rows, r.at(i))
	}
	return rows
}

// SlidingRead lists the rows of the newest Window-1 tokens before the step, oldest
// first, in a ring of Window slots, then a sentinel for each token of the step.
func (r Rows) SlidingRead(past, query int) []int {
	var rows []int
	for i := past - min(past, r.Window-1); i < past; i++ {
		rows = append(rows, r.at(i%r.Window))
	}
	for range query {
		rows = append(rows, sentinelRow)
	}
	return rows
}

// SlidingWrite lists the rows of the step's tokens: those that later ones of the
// same step push out of the window are dropped.
func (r Rows) SlidingWrite(past, query int) []int {
	var rows []int
	kept := min(query, r.Window)
	for range query - kept {
		rows = append(rows, r.Trash())
	}
	for i := past + query - kept; i < past+query; i++ {
		rows = append(rows, r.at(i%r.Window))
	}
	return rows
}

// Buckets is the order in which the reference gives memory away: sectors from the
// end of a stack, blocks of one group from buckets, one a sector, in the order in
// which the sectors were opened. It keeps no books of who holds what.
type Buckets struct {
	PerSector int
	Sectors   []int // free ones, the next to be opened last
	Open      []Bucket
}

// Bucket is the free blocks of a sector, the next to be given away last.
type Bucket struct {
	Sector int
	Blocks []int32
}

// NewBuckets makes a pool of n free sectors, numbered from 2.
func NewBuckets(n, perSector int) *Buckets {
	b := &Buckets{PerSector: perSector}
	for s := range n {
		b.Sectors = append(b.Sectors, s+2)
	}
	return b
}

// OpenSector makes the blocks of a free sector free ones of the group. There must be one.
func (b *Buckets) OpenSector() {
	s := b.Sectors[len(b.Sectors)-1]
	b.Sectors = b.Sectors[:len(b.Sectors)-1]
	bucket := Bucket{Sector: s}
	for i := b.PerSector - 1; i >= 0; i-- {
		bucket.Blocks = append(bucket.Blocks, int32(s*b.PerSector+i))
	}
	b.Open = append(b.Open, bucket)
}

// Take gives n blocks away: whole buckets first, then a part of the next one, each
// in the order in which it is kept. It answers nil when there are fewer.
func (b *Buckets) Take(n int) []int32 {
	free := 0
	for _, k := range b.Open {
		free += len(k.Blocks)
	}
	if free < n {
		return nil
	}
	var taken []int32
	for len(taken) < n {
		first := &b.Open[0]
		keep := max(0, len(first.Blocks)-(n-len(taken)))
		taken = append(taken, first.Blocks[keep:]...)
		if first.Blocks = first.Blocks[:keep]; keep == 0 {
			b.Open = b.Open[1:]
		}
	}
	return taken
}

// Free takes blocks back, each into its sector's bucket, which is made anew behind
// the others when it is gone.
func (b *Buckets) Free(blocks ...int32) {
	for _, id := range blocks {
		k := b.bucket(int(id) / b.PerSector)
		k.Blocks = append(k.Blocks, id)
	}
}

func (b *Buckets) bucket(sector int) *Bucket {
	for i := range b.Open {
		if b.Open[i].Sector == sector {
			return &b.Open[i]
		}
	}
	b.Open = append(b.Open, Bucket{Sector: sector})
	return &b.Open[len(b.Open)-1]
}

// Reclaim gives back every sector whose blocks are all free.
func (b *Buckets) Reclaim() {
	kept := b.Open[:0]
	for _, k := range b.Open {
		if len(k.Blocks) == b.PerSector {
			b.Sectors = append(b.Sectors, k.Sector)
		} else {
			kept = append(kept, k)
		}
	}
	b.Open = kept
}
