package cpuexec

import (
	"fmt"
	"math"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/sampling"
)

// Memory is what an executor takes, in bytes, beside the weight set it is given.
type Memory struct {
	executor.Pool

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
// what they are Stored as where Compute is not ComputeF32. The pool is the smallest of
// NumBlocks, of what MaxSlots sequences of MaxContext tokens can use (with a window, of what
// that holds beside two steps), of a quarter of
// MemoryLimit, and of what MaxMemory leaves beside weights, slots, work and sampling. The
// host pool is HostBlocks and no less, or refused. Then
//
//	BlockBytes = layers * key heads * (K + V + scales of both): K and V of PageSize times
//	           the head's dimension, in int8 with V of positions rounded up to 4, and a
//	           scale in float32 for each position
//	KV       = BlockBytes * Blocks + 4 * 32, what attention may read beyond the end; of a
//	           model with two kinds of attention, sectors (executor.Geometry) instead of blocks
//	Host     = BlockBytes * HostBlocks
//	Weights  = matrices, as kernels.Format says of their panels of 32 columns
//	           + 4 * norms, biases and sinks, padded to 32
//	           + of each expert its matrices and biases, and what chooses them
//	NextSet  = Weights * (WeightSets-1)
//	Slots    = 4 * MaxSlots * (MaxContext + kinds of attention * pages of MaxContext)
//	Work     = 4 * (MaxTokens * widths of all activations
//	             + up to 64 rows of the head
//	             + with norms of what layers answer: MaxTokens * hidden size
//	             + with experts: MaxTokens * (experts + 3 * experts a token)
//	               + rows that experts have at most * (2 * hidden size + an expert's size)
//	             + with adapters: MaxTokens * padded ranks of the modules of a matrix
//	             + with contexts beyond 1,024: attention states of all heads of up to 16
//	               tokens, for each 1,024 of MaxContext)
//	           + 4 * Threads * (a tile, or a row of queries where norms need more + a row
//	             + with adapters: a quarter of a tile
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
	l := layoutOf(c, &d)
	m := Memory{
		Weights:  weightBytes(c, &d),
		Slots:    int64(c.MaxSlots) * (lines(c.MaxContext) + int64(len(l.groups))*lines(pages(c.MaxContext, c.PageSize))),
		Work:     workBytes(c, &d),
		Adapters: int64(c.MaxAdapters) * adapterBytes(c, &d),
		Sampling: sampling.Bytes(d.vocab) * int64(c.Threads),
	}
	m.NextSet = int64(c.WeightSets-1) * m.Weights
	err := m.sizePool(c, &l)
	if err != nil {
		return m, err
	}
	if m.Host, err = c.hostBytes(&m); err != nil {
		return m, err
	}
	if t := m.Total(); t < 0 || t > math.MaxInt {
		return m, fmt.Errorf("%w: %d bytes cannot be addressed", ErrMemory, t)
	}
	return m, nil
}

// weightBytes is the size of all packed weights.
func weightBytes(c *Config, d *dims) int64 {
	formats := c.formats(d)
	n := matrixBytes(formats.head, d.hidden, d.headWidth) + lines(d.hiddenWidth)
	joints := d.joints()
	for l := range formats.layers {
		n += vectorBytes(c.Model, d, l)
		for i := range ownJoints(c.Model, l) {
			j := &joints[i]
			for _, s := range formats.layers[l][i] {
				n += matrixBytes(s.format, j.in, s.width)
			}
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
	n += inputBytes(p, head, d.hiddenWidth) + rows(head, d.headWidth)
	if c.Ranks != nil {
		n += rows(head, d.vocab)
	}
	thread := rows(1, tileFloats(c.Model, d)) + c.attentionBytes(d) +
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
