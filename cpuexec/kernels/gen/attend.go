package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const tile = 32 // positions that one call of attention adds

// Byte offsets of an attention state; package kernels has them in floats.
const (
	stateMax = 0   // the running maximum
	stateSum = 64  // 16 sums of weights, one per lane
	stateP   = 128 // 32 scores, then weights, of the tile
	stateOut = 256 // the weighted sum of V
)

// attention is for a tile of the cache three steps: the scores of a few queries at a
// time, which share the loads of K; the softmax, query by query; and the weighted sum of
// V, again of a few queries at a time. K lies dimension by dimension (positions in lanes),
// V position by position (dimensions in lanes), so that neither product sums across lanes.
func attention(s isa) {
	for _, e := range []element{float32s, bf16s} {
		for _, rows := range attentionRows(s) {
			scores(s, e, rows)
			weighted(s, e, rows)
		}
	}
	soften(s, false)
	soften(s, true)
}

// attentionRows are the numbers of queries that there are kernels for. The sums of 6 in
// AVX-512 and of 3 in AVX2 fill the registers.
func attentionRows(s isa) []int {
	if s.lanes == 16 {
		return []int{1, 2, 3, 6}
	}
	return []int{1, 2, 3}
}

// element is how the numbers of a cache are stored.
type element struct {
	name string // part of the kernels' names
	typ  string // in Go
	size int    // in bytes
}

var (
	float32s = element{"F32", "float32", 4}
	bf16s    = element{"BF16", "uint16", 2}
)

// load reads vector i of those that begin at m, as float32.
func (s isa) load(e element, m Mem, i int, to reg.VecPhysical) {
	m = m.Offset(i * s.lanes * e.size)
	if e == float32s {
		VMOVUPS(m, to)
		return
	}
	VPMOVZXWD(m, to)
	VPSLLD(Imm(16), to, to)
}

// rows are addresses stride bytes apart: three from a register on, three from another.
type rows struct {
	base   []reg.GPVirtual
	stride reg.Register
}

// rowsFrom is n rows, 6 at most, from a register on.
func rowsFrom(first reg.GPVirtual, stride reg.Register, n int) rows {
	r := rows{[]reg.GPVirtual{first}, stride}
	if n > 3 {
		fourth := GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, fourth)
		ADDQ(first, fourth)
		r.base = append(r.base, fourth)
	}
	return r
}

// copied is the same rows by registers of its own.
func (r rows) copied() rows {
	c := rows{stride: r.stride}
	for _, b := range r.base {
		p := GP64()
		MOVQ(b, p)
		c.base = append(c.base, p)
	}
	return c
}

// at is a place in row i.
func (r rows) at(i, disp int) Mem {
	m := mem(r.base[i/3], disp)
	if i%3 > 0 {
		m.Index, m.Scale = r.stride, uint8(i%3)
	}
	return m
}

// advance moves all rows on.
func (r rows) advance(n int) {
	for _, b := range r.base {
		addq(n, b)
	}
}

// prefetch fetches n lines into the second level, and moves p behind them. Pages lie
// anywhere in memory, where no hardware sees them coming.
func prefetch(p reg.Register, n int) {
	for i := range n {
		PREFETCHT1(mem(p, 64*i))
	}
	addq(64*n, p)
}
