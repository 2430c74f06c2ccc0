package cpuexec

import (
	"fmt"
	"math"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/sampling"
)

// Memory is what an executor takes, in bytes, beside the weight set it is given.
type Memory struct {
	Blocks     int   // blocks of the pool
	Bound      Bound // what keeps it from having more
	BlockBytes int64 // K and V of PageSize tokens in all layers

	Weights  int64 // packed
	NextSet  int64 // the same for another set: with two sets, and taken while they are there
	KV       int64 // the pool
	Host     int64 // the host pool
	Slots    int64 // ids and block tables of sequences
	Work     int64 // activations of a step
	Sampling int64 // scratch of the samplers
	Adapters int64 // places for adapters
}

// Total is the sum.
func (m Memory) Total() int64 {
	return m.Weights + m.NextSet + m.KV + m.Host + m.Slots + m.Work + m.Sampling + m.Adapters
}

// Bound is what decides the size of a pool.
type Bound string

const (
	ByNumBlocks Bound = "NumBlocks"
	ByUse       Bound = "what MaxSlots sequences of MaxContext tokens can use"
	ByQuarter   Bound = "a quarter of MemoryLimit"
	ByMaxMemory Bound = "MaxMemory"
)

// cacheLine is what every part of an area is rounded up to.
const cacheLine = 64

// maxHeadRows is how many rows go through the output head at a time: enough to pay
// for reading it, few enough that logits stay small. They are one part of rows for every
// panel, as headBest takes them.
const maxHeadRows = rowBlock

// headRows is how many of them a step can have use for: logits may be wanted after
// every token, and once more for every fork.
func (c *Config) headRows() int { return min(maxHeadRows, c.MaxTokens+c.MaxSlots) }

// Plan computes what New will take for cfg, whose weights are not looked at, but for
// what they are Stored as where Compute is ComputeInt8. The pool is the smallest of
// NumBlocks, of what MaxSlots sequences of MaxContext tokens can use, of a quarter of
// MemoryLimit, and of what MaxMemory leaves beside weights, slots, work and sampling. The
// host pool is HostBlocks and no less, or refused. Then
//
//	BlockBytes = layers * key heads * (K + V + scales of both): K and V of PageSize times
//	           the head's dimension, in int8 with V of positions rounded up to 4, and a
//	           scale in float32 for each position
//	KV       = BlockBytes * Blocks + 4 * 32, what attention may read beyond the end
//	Host     = BlockBytes * HostBlocks
//	Weights  = matrices, as kernels.Format says of their panels of 32 columns
//	           + 4 * norms and biases, padded to 32
//	NextSet  = Weights * (WeightSets-1)
//	Slots    = 4 * MaxSlots * (MaxContext + pages of MaxContext)
//	Work     = 4 * (MaxTokens * widths of all activations
//	             + up to 64 rows of the head
//	             + with adapters: MaxTokens * padded ranks of the modules of a matrix
//	             + with contexts beyond 1,024: attention states of all heads of up to 16
//	               tokens, for each 1,024 of MaxContext)
//	           + 4 * Threads * (a tile + a row
//	             + with adapters: half a tile
//	             + up to 64 queries and their attention states, twice with contexts beyond
//	               1,024; with Plain: MaxContext scores and a vector)
//	           + with ComputeInt8: rows that matrices take, packed as the kernels say, and
//	             one more a thread
//	Adapters = 4 * MaxAdapters * (per matrix: inputs * padded ranks of its modules
//	           + 32 * ranks of the modules that each panel of 32 columns reaches)
//	Sampling = sampling.Bytes(vocabulary) * threads
//
// with every array rounded up to 64 bytes. Errors wrap ErrConfig, ErrModel or
// ErrMemory.
func Plan(cfg Config) (Memory, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Memory{}, err
	}
	return cfg.plan()
}

// plan is Plan for a Config that has its defaults.
func (c *Config) plan() (Memory, error) {
	d := dimsOf(c.Model)
	m := Memory{
		BlockBytes: int64(layoutOf(c, &d).block),
		Weights:    weightBytes(c, &d),
		Slots:      int64(c.MaxSlots) * (lines(c.MaxContext) + lines(pages(c.MaxContext, c.PageSize))),
		Work:       workBytes(c, &d),
		Adapters:   int64(c.MaxAdapters) * adapterBytes(c, &d),
		Sampling:   sampling.Bytes(d.vocab) * int64(c.Threads),
	}
	m.NextSet = int64(c.WeightSets-1) * m.Weights
	blocks := m.size(c)
	if blocks < 1 {
		return m, c.noBlock(m)
	}
	m.Blocks = int(blocks)
	m.KV = poolBytes(blocks, m.BlockBytes)
	var err error
	if m.Host, err = c.hostBytes(&m); err != nil {
		return m, err
	}
	if t := m.Total(); t < 0 || t > math.MaxInt {
		return m, fmt.Errorf("%w: %d bytes cannot be addressed", ErrMemory, t)
	}
	return m, nil
}

// size is the number of blocks of the pool, beside what else m says is taken.
func (m *Memory) size(c *Config) int64 {
	blocks := int64(c.NumBlocks)
	m.Bound = ByNumBlocks
	lower := func(n int64, by Bound) {
		if n < blocks {
			blocks, m.Bound = n, by
		}
	}
	lower(int64(c.MaxSlots)*int64(pages(c.MaxContext, c.PageSize)), ByUse)
	if c.MemoryLimit > 0 {
		lower(c.MemoryLimit/4/m.BlockBytes, ByQuarter)
	}
	if c.MaxMemory > 0 {
		lower((c.MaxMemory-m.Total()-poolBytes(0, 0))/m.BlockBytes, ByMaxMemory)
	}
	return blocks
}

// noBlock says why the pool of m has none.
func (c *Config) noBlock(m Memory) error {
	if m.Bound == ByQuarter {
		return fmt.Errorf("%w: a block of %d tokens takes %d bytes, a quarter of the limit is %d; use a smaller page size",
			ErrMemory, c.PageSize, m.BlockBytes, c.MemoryLimit/4)
	}
	return fmt.Errorf("%w: weights and work take %d bytes and a block of %d tokens %d, of %d that may be used; allow more, or use fewer tokens a step",
		ErrMemory, m.Total(), c.PageSize, m.BlockBytes, c.MaxMemory)
}

// readBehind is how far behind a page attention may read, since it reads whole tiles: of
// rows of K in float32, of 4 rows at a time in int8, of scales.
const readBehind = 4 * kernels.Tile

// poolBytes is the size of a pool, which something follows that may be read.
func poolBytes(blocks, blockBytes int64) int64 { return lineBytes(blocks*blockBytes + readBehind) }

// hostBytes is the size of the host pool, which shares the limit with all that m has
// and with what others use.
func (c *Config) hostBytes(m *Memory) (int64, error) {
	taken := c.InUse + m.Total()
	if most := max(0, c.MemoryLimit-taken) / m.BlockBytes; c.MemoryLimit > 0 && int64(c.HostBlocks) > most {
		return 0, fmt.Errorf("%w: a host pool of %d blocks of %d bytes, where %d of %d bytes are taken; use at most %d blocks",
			ErrMemory, c.HostBlocks, m.BlockBytes, taken, c.MemoryLimit, most)
	}
	return lineBytes(int64(c.HostBlocks) * m.BlockBytes), nil
}

// weightBytes is the size of all packed weights.
func weightBytes(c *Config, d *dims) int64 {
	formats := c.formats(d)
	n := matrixBytes(formats.head, d.hidden, d.vocabWidth) + lines(d.hiddenWidth)
	joints := d.joints()
	for l := range formats.layers {
		n += vectorBytes(c.Model, d, l)
		for i := range own(c.Model, l) {
			j := &joints[i]
			n += matrixBytes(formats.layers[l][i], j.in, j.width)
			if hasBias(c.Model, i) {
				n += lines(j.width)
			}
		}
		if c.Model.HasExperts(l) {
			n += d.mixtureBytes(c.Model, formats.experts[l])
		}
	}
	return n
}

// vectorBytes is the size of a layer's norms and sinks.
func vectorBytes(m *model.Config, d *dims, layer int) (n int64) {
	for _, name := range m.LayerNorms(layer) {
		if name != "" {
			n += lines(d.hiddenWidth)
		}
	}
	if m.QKNorm != model.QKNormNone {
		q, k := qkNormWidths(m, d)
		n += lines(q) + lines(k)
	}
	if m.Sinks {
		n += lines(d.heads)
	}
	return n
}

// workBytes is the size of a step's activations.
func workBytes(c *Config, d *dims) int64 {
	rows := func(n, width int) int64 { return lines(n * width) }
	t, p := c.MaxTokens, c.packs()
	n := rows(t, d.hiddenWidth) + rows(t, d.qkvWidth) + rotationBytes(c.Model, t) + c.mixtureWork(d) + lines(c.splitFloats(d)) +
		inputBytes(p, t, d.hiddenWidth) + inputBytes(p, t, d.attnWidth) + inputBytes(p, t, d.interWidth)
	if c.Model.Norms != model.NormBefore {
		n += rows(t, d.hiddenWidth)
	}
	head := c.headRows()
	n += inputBytes(p, head, d.hiddenWidth) + rows(head, d.vocabWidth)
	thread := rows(tilePanels, kernels.Panel) + c.attentionBytes(d) +
		rows(1, d.hiddenWidth) + lineBytes(int64(p.bytes(1, d.widest())))
	if c.MaxAdapters > 0 {
		n += rows(t, c.lowWidth(d))
		thread += rows(rowBlock, kernels.Panel)
	}
	return n + int64(c.Threads)*thread
}

// lines is the size in bytes of n float32 or int32, rounded up to cache lines.
func lines(n int) int64 { return lineBytes(4 * int64(n)) }

func lineBytes(n int64) int64 { return (n + cacheLine - 1) / cacheLine * cacheLine }

// pages is the number of pages that n tokens take.
func pages(n, pageSize int) int { return (n + pageSize - 1) / pageSize }
