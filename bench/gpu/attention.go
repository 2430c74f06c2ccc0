package main

import (
	"fmt"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
)

// page is how many positions a block of the cache has.
const page = 16

// splitTokens is up to how many tokens share contexts by segments: the executor's.
const splitTokens = 8

// layer is a layer of the cache, and the tokens that are computed there: the last ones of each sequence.
type layer struct {
	tokens, pages, stride int
	bytes, pieces         int // of the blocks of all sequences, and how many times they are there
	pool                  cuda.Pointer
	pos, slot, tables     cuda.Pointer
	items                 []int32
	read, answered        float64 // positions that are read, and pairs of a query and a position
}

// layer makes one of so many sequences, with as many tokens each.
func (b *bench) layer(sequences, each int) *layer {
	l := &layer{tokens: sequences * each, pages: (b.context + page - 1) / page}
	l.stride = b.m.KVHeads * 2 * page * kernels.HeadWidth(b.m.HeadDim)
	l.bytes = 2 * sequences * l.pages * l.stride
	l.pieces = b.spreadOver(l.bytes)
	var pos, slot []int32
	for s := range int32(sequences) {
		for at := b.context - each; at < b.context; at++ {
			if (at-b.context+each)%kernels.ItemTokens == 0 {
				l.items = append(l.items, int32(len(pos)), int32(min(kernels.ItemTokens, b.context-at)))
			}
			pos, slot = append(pos, int32(at)), append(slot, s)
			l.answered += float64(at + 1)
		}
	}
	l.read = float64(sequences * b.context)
	l.pool, l.pos, l.slot, l.tables = b.take(l.pieces*l.bytes), b.ints(pos), b.ints(slot), b.ints(ascending(sequences*l.pages))
	return l
}

// attention measures what reads and writes the cache. Each time the sequences have their blocks elsewhere,
// as far as the L2 cache could have them.
func (b *bench) attention(sequences, each int) error {
	l := b.layer(sequences, each)
	q := b.take(2 * l.tokens * b.m.Heads * kernels.HeadWidth(b.m.HeadDim))
	if err := b.answers(l, q); err != nil {
		return fmt.Errorf("attention of %d: %w", l.tokens, err)
	}
	if err := b.writes(l, q); err != nil {
		return fmt.Errorf("qkv of %d: %w", l.tokens, err)
	}
	return b.give(l.pool, l.pos, l.slot, l.tables, q)
}

// answers measures attention itself.
func (b *bench) answers(l *layer, q cuda.Pointer) error {
	m, ld := b.m, padded(b.m.Heads*b.m.HeadDim)
	items, out := b.ints(l.items), b.room(2*l.tokens*ld)
	a := kernels.Attention{
		Q: q, Out: out, Pos: l.pos, Slot: l.slot, Tables: l.tables, Items: items,
		N: len(l.items) / 2, T: l.tokens, Heads: m.Heads, KVHeads: m.KVHeads, Dim: m.HeadDim, LdOut: ld,
		Pages: l.pages, Page: page, BlockStride: l.stride, Segs: 1,
	}
	if l.tokens <= splitTokens {
		a.Segs = max(1, (b.context+kernels.Segment-1)/kernels.Segment)
	}
	a.State = b.room(4 * l.tokens * m.Heads * a.Segs * (m.HeadDim + 2))
	took, err := b.time(func(i int) error {
		a.Pool = at(l.pool, i, l.pieces, l.bytes)
		if err := b.set.Attention(b.stream, &a); err != nil || a.Segs == 1 {
			return err
		}
		return b.set.AttentionMerge(b.stream, out, a.State, 0, l.pos, l.tokens, m.Heads, m.HeadDim, ld, a.Segs, 0)
	})
	if err != nil {
		return err
	}
	moved := 4*l.read*float64(m.KVHeads*m.HeadDim) + 4*float64(l.tokens*m.Heads*m.HeadDim)
	b.note("attention", l.tokens, took, moved, 4*l.answered*float64(m.Heads*m.HeadDim))
	return b.give(items, out, a.State)
}

// writes measures what makes queries, keys and values of a product.
func (b *bench) writes(l *layer, q cuda.Pointer) error {
	m := b.m
	columns := (m.Heads + 2*m.KVHeads) * m.HeadDim
	count := kernels.Parts(l.tokens, columns, padded(m.Hidden))
	parts, rope := b.room(4*count*l.tokens*columns), b.room(4*b.context*m.HeadDim)
	a := kernels.QKV{
		Q: q, Parts: parts, Rope: rope, Pos: l.pos, Slot: l.slot, Tables: l.tables,
		Count: count, T: l.tokens, Heads: m.Heads, KVHeads: m.KVHeads, Dim: m.HeadDim, Rot: m.HeadDim, Eps: float32(m.NormEps), Scale: 1,
		Pages: l.pages, Page: page, BlockStride: l.stride,
	}
	took, err := b.time(func(i int) error {
		a.Pool = at(l.pool, i, l.pieces, l.bytes)
		return b.set.QKV(b.stream, &a)
	})
	if err != nil {
		return err
	}
	b.note("qkv", l.tokens, took, float64(l.tokens*columns)*float64(4*count+2), 0)
	return b.give(parts, rope)
}
