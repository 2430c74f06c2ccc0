package cpuexec

import (
	"cmp"
	"slices"
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
	parts int // items: 1, or one for each segment
	split int // with more than one: which of those that have been split it is
	at    int // likewise: where its states begin
}

// end is behind the last position that any of u's tokens sees.
func (u *span) end() int { return u.pos + u.count }

// before is how many of u's tokens see nothing from position p on.
func (u *span) before(p int) int { return max(0, p-u.pos) }

// item is what a thread takes at a time, for one key head: a span, or a segment of one.
type item struct {
	span, segment int
	cost          int // products of queries and keys, without what all have alike
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

// laySpans cuts the step's tokens into spans and these into items, the longest first, so
// that threads that take them as they come end together.
func (s *step) laySpans() {
	s.spans, s.items, s.apart = s.spans[:0], s.items[:0], true
	for i := range s.tokens {
		t := &s.tokens[i]
		if n := len(s.spans); n > 0 {
			u := &s.spans[n-1]
			if u.slot == t.slot && u.end() == t.pos && u.count < s.spanLen {
				u.count++
				continue
			}
			s.apart = s.apart && u.slot != t.slot
		}
		s.spans = append(s.spans, span{slot: t.slot, from: i, count: 1, pos: t.pos, parts: 1})
	}
	free, split := s.config.splitSegments(&s.dims), 0
	for i := range s.spans {
		u := &s.spans[i]
		if n := segments(u.end(), s.cache.pageSize); n > 1 && n*u.count <= free {
			free -= n * u.count
			u.parts, u.split, u.at = n, split, free*s.heads*s.stateLen
			split++
			s.apart = false
		}
		s.layItems(i, u)
	}
	slices.SortFunc(s.items, func(a, b item) int { return cmp.Compare(b.cost, a.cost) })
}

// layItems adds the items of span i.
func (s *step) layItems(i int, u *span) {
	if u.parts == 1 {
		s.items = append(s.items, item{span: i, cost: u.count * u.end()})
		return
	}
	size := segmentOf(s.cache.pageSize)
	for p := range u.parts {
		s.items = append(s.items, item{span: i, segment: p, cost: u.count * min(size, u.end()-p*size)})
	}
}
