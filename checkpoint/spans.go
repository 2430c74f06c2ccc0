package checkpoint

import (
	"cmp"
	"fmt"
	"iter"
	"sort"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// span is a tensor's entry in a header.
type span struct {
	model.Tensor
	begin, end uint64 // within the data that follows the header
	typed      uint8  // of safetensorsTypes
}

// kind is the type as safetensors spells it.
func (s *span) kind() string { return safetensorsTypes[s.typed].name }

// spanChunk is how many entries lie in one piece of memory.
const spanChunk = 1 << 12

// spans are the entries of a header. They grow without being copied, so that they take no
// more memory than they have.
type spans struct{ chunks [][]span }

func (s *spans) add(one span) {
	last := len(s.chunks) - 1
	if last < 0 || len(s.chunks[last]) == spanChunk {
		s.chunks = append(s.chunks, nil)
		last++
		if last > 0 { // the first grows, for most headers are small
			s.chunks[last] = make([]span, 0, spanChunk)
		}
	}
	s.chunks[last] = append(s.chunks[last], one)
}

func (s *spans) len() int {
	if len(s.chunks) == 0 {
		return 0
	}
	return (len(s.chunks)-1)*spanChunk + len(s.chunks[len(s.chunks)-1])
}

func (s *spans) at(i int) *span { return &s.chunks[i/spanChunk][i%spanChunk] }

// all are the entries in their order.
func (s *spans) all() iter.Seq[*span] {
	return func(yield func(*span) bool) {
		for i := range s.len() {
			if !yield(s.at(i)) {
				return
			}
		}
	}
}

// ordered sorts spans.
type ordered struct {
	*spans
	by func(a, b *span) int
}

func (o ordered) Len() int           { return o.len() }
func (o ordered) Less(i, j int) bool { return o.by(o.at(i), o.at(j)) < 0 }
func (o ordered) Swap(i, j int)      { a, b := o.at(i), o.at(j); *a, *b = *b, *a }

// check makes sure that no name comes twice and that the spans cover the data exactly, and
// sorts them by their place; a negative size is not known.
func (s *spans) check(size int64) error {
	sort.Sort(ordered{s, func(a, b *span) int { return strings.Compare(a.Name, b.Name) }})
	for i := 1; i < s.len(); i++ {
		if name := s.at(i).Name; name == s.at(i-1).Name {
			return fmt.Errorf("%w: header: %.80q is there twice", ErrFormat, name)
		}
	}
	sort.Sort(ordered{s, func(a, b *span) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	}})
	at := uint64(0)
	for t := range s.all() {
		if t.begin != at {
			return fmt.Errorf("%w: tensor %.80q begins at %d, the one before ends at %d", ErrFormat, t.Name, t.begin, at)
		}
		at = t.end
	}
	if size >= 0 && at != uint64(size) {
		return fmt.Errorf("%w: tensors end at %d, the data at %d: is the file truncated?", ErrFormat, at, size)
	}
	return nil
}
