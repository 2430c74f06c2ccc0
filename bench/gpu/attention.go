package main

import (
	"fmt"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
)

// page is how many positions a block of the cache has.
const page = 16

// attention measures what reads the cache, for t tokens of as many sequences. Each time they have their
// blocks elsewhere, unless they are larger than the cache anyway. Up to splitTokens tokens share
// contexts by segments, as the executor has it.
func (b *bench) attention(t int) error {
	m, width := b.m, kernels.HeadWidth(b.m.HeadDim)
	pages := (b.context + page - 1) / page
	stride := m.KVHeads * 2 * page * width // elements of a block, of one layer
	bytes := 2 * t * pages * stride
	pieces := b.spreadOver(bytes)
	a := kernels.Attention{
		Pool: b.take(pieces * bytes), Q: b.take(2 * t * m.Heads * width), Out: b.room(2 * t * padded(m.Heads*m.HeadDim)),
		Pos: b.ints(repeated(int32(b.context-1), t)), Slot: b.ints(ascending(t)), Tables: b.ints(ascending(t * pages)), Items: b.ints(singles(t)),
		N: t, T: t, Heads: m.Heads, KVHeads: m.KVHeads, Dim: m.HeadDim, LdOut: padded(m.Heads * m.HeadDim),
		Pages: pages, Page: page, BlockStride: stride, Segs: 1,
	}
	const splitTokens = 8
	if t <= splitTokens {
		a.Segs = max(1, (b.context+kernels.Segment-1)/kernels.Segment)
	}
	state := b.room(4 * t * m.Heads * a.Segs * (m.HeadDim + 2))
	a.State = state
	pool := a.Pool
	took, err := b.time(func(i int) error {
		a.Pool = at(pool, i, pieces, bytes)
		if err := b.set.Attention(b.stream, &a); err != nil || a.Segs == 1 {
			return err
		}
		return b.set.AttentionMerge(b.stream, a.Out, a.State, 0, a.Pos, t, m.Heads, m.HeadDim, a.LdOut, a.Segs, 0)
	})
	if err != nil {
		return fmt.Errorf("attention of %d: %w", t, err)
	}
	read := float64(t) * float64(b.context) * float64(m.KVHeads*m.HeadDim*4)
	b.note("attention", t, took, read, 4*float64(t)*float64(b.context)*float64(m.Heads*m.HeadDim))
	return b.give([]cuda.Pointer{pool, a.Q, a.Out, a.Pos, a.Slot, a.Tables, a.Items, state}...)
}

// singles are items of a token each.
func singles(t int) []int32 {
	items := make([]int32, 0, 2*t)
	for i := range t {
		items = append(items, int32(i), 1)
	}
	return items
}

// repeated is a number so many times.
func repeated(x int32, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = x
	}
	return out
}
