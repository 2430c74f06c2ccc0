package text

import "fmt"

// behavior is what becomes of the places that a Split step looks for.
type behavior int

const (
	removed            behavior = iota // they are left out
	isolated                           // each is a part
	mergedWithPrevious                 // each goes with the part before it
	mergedWithNext                     // each goes with the part behind it
	contiguous                         // neighbouring ones are one part
)

var behaviors = map[string]behavior{
	"Removed": removed, "Isolated": isolated, "MergedWithPrevious": mergedWithPrevious,
	"MergedWithNext": mergedWithNext, "Contiguous": contiguous,
}

func readBehavior(name string) (behavior, error) {
	b, ok := behaviors[name]
	if !ok {
		return 0, fmt.Errorf("%w: Split behavior %.40q", ErrUnsupported, name)
	}
	return b, nil
}

// span is a part of a text; found: it is what was looked for.
type span struct {
	from, to int
	found    bool
}

// joined puts spans, which cover a text in their order, together or leaves them out
// as the behavior has it. What is empty is left out in any case.
func (b behavior) joined(spans []span) []span {
	var out []span
	for _, s := range spans {
		last := len(out) - 1
		switch {
		case b == removed && s.found:
			continue
		case last >= 0 && b.joins(out[last].found, s.found):
			out[last].to, out[last].found = s.to, s.found
			continue
		}
		out = append(out, s)
	}
	kept := out[:0]
	for _, s := range out {
		if s.from < s.to {
			kept = append(kept, s)
		}
	}
	return kept
}

// joins says whether two neighbours are one part; before and now: they were found.
func (b behavior) joins(before, now bool) bool {
	switch b {
	case mergedWithPrevious:
		return now && !before
	case mergedWithNext:
		return before && !now
	case contiguous:
		return before == now
	}
	return false
}
