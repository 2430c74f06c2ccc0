package cpuexec

import (
	"sync/atomic"

	"github.com/cbactor/cbactor/cpuexec/kernels"
)

// attention is what a thread has for attention; Plain has scores and a vector alone.
type attention struct {
	queries queries
	seen    []int32   // [rows]
	states  []float32 // [rows][stateLen]
	next    []float32 // likewise, of the next segment; nil where contexts have one only
	odd     []byte    // V of a group of positions, of a cache in int8

	scores []float32 // [MaxContext]
	vector []float32 // [headDim]
}

// queries are scaled and lie side by side: floats, or packed for a cache in int8.
type queries struct {
	floats []float32
	packed []byte
}

// from is the queries from a row on.
func (q *queries) from(row, headDim int) queries {
	if q.packed != nil {
		return queries{packed: q.packed[row*kernels.QueryLen(headDim):]}
	}
	return queries{floats: q.floats[row*headDim:]}
}

// spanRows is how many queries a span has at most, for a key head.
func (d *dims) spanRows() int { return d.spanTokens() * d.group }

// queryBytes is the size of so many queries.
func (c *Config) queryBytes(d *dims) int64 {
	if c.KVType == KVInt8 {
		return lineBytes(int64(d.spanRows() * kernels.QueryLen(d.headDim)))
	}
	return lines(d.spanRows() * d.headDim)
}

// attentionBytes is the size of what a thread has for attention.
func (c *Config) attentionBytes(d *dims) int64 {
	if c.Attention == Plain {
		return lines(c.MaxContext) + lines(d.headDim)
	}
	states := lines(d.spanRows() * kernels.StateLen(d.headDim))
	if c.splitSegments(d) > 0 {
		states *= 2
	}
	if c.KVType == KVInt8 {
		states += lineBytes(int64(kernels.Group * d.headDim))
	}
	return c.queryBytes(d) + lines(d.spanRows()) + states
}

// cutAttention cuts that out of a.
func (s *step) cutAttention(a *area) (w attention) {
	c, rows := s.config, s.spanRows()
	if c.Attention == Plain {
		return attention{scores: cut[float32](a, c.MaxContext), vector: cut[float32](a, s.headDim)}
	}
	if c.KVType == KVInt8 {
		w.queries.packed = a.part(c.queryBytes(&s.dims)).mem
		w.odd = cut[byte](a, kernels.Group*s.headDim)
	} else {
		w.queries.floats = cut[float32](a, rows*s.headDim)
	}
	w.seen, w.states = cut[int32](a, rows), cut[float32](a, rows*s.stateLen)
	if c.splitSegments(&s.dims) > 0 {
		w.next = cut[float32](a, rows*s.stateLen)
	}
	return w
}

// splitFloats is the size of the states of segments that are computed by themselves.
func (c *Config) splitFloats(d *dims) int {
	return c.splitSegments(d) * d.heads * kernels.StateLen(d.headDim)
}

// newSpans makes room for what a step's tokens are cut into. A span that is split has two
// segments or more.
func (s *step) newSpans() {
	most := s.config.splitSegments(&s.dims)
	s.spans = make([]span, 0, s.config.MaxTokens)
	for _, g := range layoutOf(s.config, &s.dims).groups {
		s.rounds = append(s.rounds, round{window: g.window, items: make([]item, 0, s.config.MaxTokens+most)})
	}
	s.splitDone = make([]atomic.Int32, most/2*s.kvHeads)
	for n := range s.seen {
		s.seen[n] = make([]int32, s.spanRows())
		for r := range s.seen[n] {
			s.seen[n][r] = int32(n)
		}
	}
}
