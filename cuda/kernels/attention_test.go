package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/cbactor/cbactor/cuda"
)

// context is a cache with one sequence, slot 1 of 2, whose blocks lie in any order among
// blocks of NaN, and queries of its last tokens.
type context struct {
	*rig
	heads, kvHeads, dim, width, page int

	k, v, q []float32 // [position][kv head][dim], and [token][head][dim]
	length  int
	tokens  int

	pool, tables, pos, slot cuda.Pointer
	queries                 cuda.Pointer
	pages                   int
}

// newContext has positions up to length, the queries of the last tokens, and, with a window,
// nothing where no query sees.
func newContext(r *rig, heads, kvHeads, dim, page, length, tokens, window int) *context {
	c := &context{rig: r, heads: heads, kvHeads: kvHeads, dim: dim, width: HeadWidth(dim), page: page, length: length, tokens: tokens}
	c.k, c.v = r.numbers(length*kvHeads*dim, 1), r.numbers(length*kvHeads*dim, 1)
	c.q = r.numbers(tokens*heads*dim, 1)
	c.pages = over(length, page) + 1
	first := 0
	if window > 0 {
		first = max(0, length-tokens-window+1)
	}
	pool := make([]float32, 2*c.pages*c.blockStride())
	for i := range pool {
		pool[i] = float32(math.NaN())
	}
	tables := make([]int32, 2*c.pages)
	for p := range c.pages {
		tables[c.pages+p] = int32(2*(c.pages-1-p) + 1)
	}
	for p := first; p < length; p++ {
		for h := range kvHeads {
			at := int(tables[c.pages+p/page])*c.blockStride() + (h*2*page+p%page)*c.width
			for d := range c.width {
				pool[at+d], pool[at+page*c.width+d] = 0, 0
				if d < dim {
					pool[at+d], pool[at+page*c.width+d] = c.k[(p*kvHeads+h)*dim+d], c.v[(p*kvHeads+h)*dim+d]
				}
			}
		}
	}
	c.pool, c.tables = r.halves(pool), r.ints(tables...)
	pos, slot, q := make([]int32, tokens), make([]int32, tokens), make([]float32, tokens*heads*c.width)
	for t := range tokens {
		pos[t], slot[t] = int32(length-tokens+t), 1
		for h := range heads {
			copy(q[(t*heads+h)*c.width:], c.q[(t*heads+h)*dim:][:dim])
		}
	}
	c.pos, c.slot, c.queries = r.ints(pos...), r.ints(slot...), r.halves(q)
	return c
}

// blockStride leaves room for two layers.
func (c *context) blockStride() int { return 2 * c.kvHeads * 2 * c.page * c.width }

// variant is what a model has beside heads.
type variant struct {
	window int
	cap    float32
	sinks  []float32
}

// answers runs attention over items of tokens, whole or by segments.
func (c *context) answers(items [][2]int32, v variant, segs int) []float32 {
	c.Helper()
	flat := make([]int32, 0, 2*len(items))
	for _, i := range items {
		flat = append(flat, i[0], i[1])
	}
	a := Attention{
		Q: c.queries, Pool: c.pool, Pos: c.pos, Slot: c.slot, Tables: c.tables, Items: c.ints(flat...),
		N: len(items), T: c.tokens, Heads: c.heads, KVHeads: c.kvHeads, Dim: c.dim, LdOut: c.heads*c.dim + 3,
		Pages: c.pages, Page: c.page, BlockStride: c.blockStride(), Window: v.window, Cap: v.cap, Segs: segs,
	}
	a.Out = c.halves(make([]float32, c.tokens*a.LdOut))
	if v.sinks != nil {
		a.Sinks = c.floats(v.sinks)
	}
	if segs > 1 {
		a.State = c.room(4 * c.tokens * c.heads * segs * (c.dim + 2))
	}
	c.ok(c.set.Attention(c.stream, &a))
	if segs > 1 {
		c.ok(c.set.AttentionMerge(c.stream, a.Out, a.State, a.Sinks, c.pos, c.tokens, c.heads, c.dim, a.LdOut, segs, v.window))
	}
	got, out := c.getHalves(a.Out, c.tokens*a.LdOut), []float32(nil)
	for t := range c.tokens {
		out = append(out, got[t*a.LdOut:][:c.heads*c.dim]...)
	}
	return out
}

// want is attention by the definition.
func (c *context) want(v variant) []float64 {
	out := make([]float64, c.tokens*c.heads*c.dim)
	for t := range c.tokens {
		for h := range c.heads {
			c.wantHead(t, h, v, out[(t*c.heads+h)*c.dim:][:c.dim])
		}
	}
	return out
}

func (c *context) wantHead(t, h int, v variant, out []float64) {
	p, kv, q := c.length-c.tokens+t, h/(c.heads/c.kvHeads), c.q[(t*c.heads+h)*c.dim:]
	sum, first := 0.0, 0
	if v.window > 0 {
		first = max(0, p-v.window+1)
	}
	if v.sinks != nil {
		sum = math.Exp(float64(v.sinks[h]))
	}
	for at := first; at <= p; at++ {
		row, score := (at*c.kvHeads+kv)*c.dim, 0.0
		for d := range c.dim {
			score += float64(q[d]) * float64(c.k[row+d])
		}
		if top := float64(v.cap); top != 0 {
			score = top * math.Tanh(score/top)
		}
		weight := math.Exp(score)
		sum += weight
		for d := range out {
			out[d] += weight * float64(c.v[row+d])
		}
	}
	for d := range out {
		out[d] /= sum
	}
}

// pieces cuts tokens into items of so many.
func pieces(tokens, size int) (items [][2]int32) {
	for t := 0; t < tokens; t += size {
		items = append(items, [2]int32{int32(t), int32(min(size, tokens-t))})
	}
	return items
}

func TestAttention(t *testing.T) {
	sinks := []float32{1, -2, 3, 0.5, 2, -1}
	for _, c := range []struct {
		heads, kvHeads, dim, page, length, tokens int
		variant
	}{
		{6, 2, 20, 16, 41, 9, variant{}},
		{6, 2, 64, 16, 300, 3, variant{cap: 5}},
		{4, 4, 96, 32, 530, 2, variant{window: 270}},
		{6, 1, 128, 7, 70, 5, variant{sinks: sinks}},
		{2, 1, 256, 16, 290, 2, variant{window: 20}},
		{40, 2, 8, 16, 33, 2, variant{}},
	} {
		t.Run(fmt.Sprintf("dim %d", c.dim), func(t *testing.T) {
			onBoth(t, func(r *rig) {
				x := newContext(r, c.heads, c.kvHeads, c.dim, c.page, c.length, c.tokens, c.window)
				whole := x.answers(pieces(c.tokens, ItemTokens), c.variant, 1)
				r.near("whole", whole, x.want(c.variant), ofHalf)
				segs := max(2, over(c.length, Segment))
				r.same("by segments", x.answers(pieces(c.tokens, 1), c.variant, segs), whole)
			})
		})
	}
}

// A query has the same answer to the bit alone and in items of any size, and padding is left
// alone.
func TestAttentionIsBatchInvariant(t *testing.T) {
	onBoth(t, func(r *rig) {
		for _, window := range []int{0, 100} {
			const length, tokens = 340, 70
			c := newContext(r, 3, 1, 32, 16, length, tokens, window)
			v := variant{window: window}
			all := c.answers(pieces(tokens, ItemTokens), v, 1)
			r.near("all", all, c.want(v), ofHalf)
			r.same("in items of 7", c.answers(append(pieces(tokens, 7), [2]int32{0, 0}), v, 1), all)
			r.same("alone, by segments", c.answers(pieces(tokens, 1), v, 3), all)
		}
	})
}
