package cpuexec

import (
	"cmp"
	"slices"

	"github.com/cbactor/cbactor/executor"
)

// segmentLen is after how many positions of a sequence, rounded up to whole pages, the sum
// of attention is cut: those of a segment are summed up by themselves, and the segments of
// a context merged as they ascend. So threads can share a long context, and nobody's bits
// depend on whether they do.
const segmentLen = 1024

// queryRows bounds the query heads that read a tile of the cache together: enough that
// reading it is cheap, few enough that a kernel is back soon.
const queryRows = 64

// span is a stretch of a sequence's positions that attend together: they share what is
// read of the cache.
type span struct {
	slot  *slot
	from  int // the first one's number among the tokens
	count int
	pos   int // the first one's position
	cuts  [executor.MaxGroups]spanCut
}

// spanCut is how a span is cut into items in the layers of a group.
type spanCut struct {
	first int // segment that any of the span's tokens sees
	parts int // items: 1, or one for each segment
	split int // with more than one: which of those that have been split it is
	at    int // likewise: where its states begin
}

// end is behind the last position that any of u's tokens sees.
func (u *span) end() int { return u.pos + u.count }

// first is the first position that any of u's tokens sees through a window.
func (u *span) first(window int) int { return max(0, u.pos-window+1) }

// before is how many of u's tokens see nothing from position p on.
func (u *span) before(p int) int { return max(0, p-u.pos) }

// until is how many of u's tokens have a window that begins at position p or before.
func (u *span) until(p, window int) int { return max(0, min(u.count, p+window-u.pos)) }

// item is what a thread takes at a time, for one key head: a span, or a segment of one.
type item struct {
	span, segment int
	cost          int // products of queries and keys, without what all have alike
}

// round is what the tokens of a step attend to in each layer of a group.
type round struct {
	window int
	items  []item
	apart  bool // no item reads what another one stores, as blocks that are written have one slot: each stores first
}

// spanTokens is how many tokens a span has at most.
func (d *dims) spanTokens() int { return max(1, min(16, queryRows/d.group)) }

// segments is how many a context of n tokens has.
func segments(n, pageSize int) int { return pages(n, segmentOf(pageSize)) }

// segmentOf is the length of a segment.
func segmentOf(pageSize int) int { return pages(segmentLen, pageSize) * pageSize }

// splitSegments is how many segments of spans, each counted with every token of a span,
// can be computed by themselves in a step: those of spanTokens sequences of full length.
// Others are cut no less, but computed one after the other.
func (c *Config) splitSegments(d *dims) int {
	n := segments(c.MaxContext, c.PageSize)
	if n == 1 || c.Attention == Plain {
		return 0
	}
	return n * d.spanTokens()
}

// laySpans cuts the step's tokens into spans and these, for each group, into items, the
// longest first, so that threads that take them as they come end together.
func (s *step) laySpans() {
	s.spans = s.spans[:0]
	apart := true
	for i := range s.tokens {
		t := &s.tokens[i]
		if n := len(s.spans); n > 0 {
			u := &s.spans[n-1]
			if u.slot == t.slot && u.end() == t.pos && u.count < s.spanLen {
				u.count++
				continue
			}
			apart = apart && u.slot != t.slot
		}
		s.spans = append(s.spans, span{slot: t.slot, from: i, count: 1, pos: t.pos})
	}
	for g := range s.rounds {
		s.rounds[g].apart = apart
		s.layRound(g)
	}
}

// layRound cuts the spans into the items of group g.
func (s *step) layRound(g int) {
	r := &s.rounds[g]
	r.items = r.items[:0]
	size, free, split := segmentOf(s.cache.pageSize), s.config.splitSegments(&s.dims), 0
	for i := range s.spans {
		u := &s.spans[i]
		c := spanCut{first: u.first(r.window) / size, parts: 1}
		if n := segments(u.end(), s.cache.pageSize) - c.first; n > 1 && n*u.count <= free {
			free -= n * u.count
			c.parts, c.split, c.at = n, split, free*s.heads*s.stateLen
			split++
			r.apart = false
		}
		u.cuts[g] = c
		for p := range c.parts {
			from, to := max(u.first(r.window), (c.first+p)*size), u.end()
			if p+1 < c.parts {
				to = (c.first + p + 1) * size
			}
			r.items = append(r.items, item{span: i, segment: c.first + p, cost: u.count * (to - from)})
		}
	}
	slices.SortFunc(r.items, func(a, b item) int { return cmp.Compare(b.cost, a.cost) })
}
