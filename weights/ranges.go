package weights

import (
	"fmt"
	"slices"
)

// maxRanges bounds what a sender that sends crumbs can make a Put cost.
const maxRanges = 4096

// span is the bytes lo … hi-1.
type span struct{ lo, hi int }

// ranges are the bytes of a tensor that have arrived: spans in ascending order
// that neither overlap nor touch.
type ranges []span

// at is the index of the first span that ends at lo or later.
func (r ranges) at(lo int) int {
	i, _ := slices.BinarySearchFunc(r, lo, func(s span, lo int) int { return s.hi - lo })
	return i
}

// check tells whether a span can be added.
func (r ranges) check(s span) error {
	if len(r) < maxRanges || r.touches(s) {
		return nil
	}
	return fmt.Errorf("%w: more than %d parts with gaps between them, fill the gaps first", ErrChunk, maxRanges)
}

// touches tells whether a span overlaps one that is there, or is next to it.
func (r ranges) touches(s span) bool {
	i := r.at(s.lo)
	return i < len(r) && r[i].lo <= s.hi
}

// add puts a span, which is not empty, to the others.
func (r *ranges) add(s span) {
	first := r.at(s.lo)
	last := first
	for last < len(*r) && (*r)[last].lo <= s.hi {
		s.lo, s.hi = min(s.lo, (*r)[last].lo), max(s.hi, (*r)[last].hi)
		last++
	}
	*r = slices.Replace(*r, first, last, s)
}

// overlaps gives the parts of a span that are there, in order.
func (r ranges) overlaps(s span, yield func(span) bool) {
	for i := r.at(s.lo + 1); i < len(r) && r[i].lo < s.hi; i++ {
		if !yield(span{max(s.lo, r[i].lo), min(s.hi, r[i].hi)}) {
			return
		}
	}
}

// has tells whether a byte is there.
func (r ranges) has(at int) bool {
	i := r.at(at + 1)
	return i < len(r) && r[i].lo <= at
}

// prefix is how many bytes are there from the first one on without a gap.
func (r ranges) prefix() int {
	if len(r) == 0 || r[0].lo > 0 {
		return 0
	}
	return r[0].hi
}
