package text

import "unicode/utf8"

// seams are the places where a word can be cut before it is merged, as no merge reaches over
// them: where two characters meet that do not meet in a merge. A text that the file does not
// cut is not merged as a whole then, and its words are remembered. Looked at are characters of
// ASCII, and the mark that stands for a space, behind any other.
type seams struct {
	apart    [seamKinds][seamKinds]bool
	beside   map[rune]bool // further ones that meet a mark behind them in a merge
	unknowns bool          // what characters that are no token become may be merged with a mark behind it
}

// seamKinds are the characters of ASCII, by their numbers, and the mark.
const (
	seamMark  = utf8.RuneSelf
	seamKinds = seamMark + 1
)

// seamKind is that of a character; none: any other.
func seamKind(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return int(r)
	case r == spaceRune:
		return seamMark
	}
	return none
}

// newSeams finds the seams of a definition whose words start as characters, which vocab has.
func newSeams(d *definition, vocab map[string]int32) *seams {
	m := &seams{beside: make(map[rune]bool)}
	for x := range m.apart {
		for y := range m.apart[x] {
			m.apart[x][y] = y == seamMark || isToken(vocab, x) && isToken(vocab, y)
		}
	}
	for _, p := range d.merges {
		m.meet(p[0], p[1])
	}
	for p := range d.pairs {
		m.meet(d.tokens[p.left], d.tokens[p.right])
	}
	for token := range d.whole {
		for at := range token {
			m.meet(token[:at], token[at:])
		}
	}
	// The token of a byte, which a character becomes that is none, is written <0x41>; and the
	// token of what is unknown may have any name.
	m.unknowns = !m.apart['>'][seamMark] || d.unk != none && int(d.unk) < len(d.tokens) && m.meetsMark(d.tokens[d.unk])
	for x := range utf8.RuneSelf {
		m.apart[x][seamMark] = m.apart[x][seamMark] && (isToken(vocab, x) || !m.unknowns)
	}
	return m
}

func isToken(vocab map[string]int32, kind int) bool {
	name := spaceMark
	if kind != seamMark {
		name = string(rune(kind))
	}
	_, ok := vocab[name]
	return ok
}

// meet notes that two tokens are merged.
func (m *seams) meet(left, right string) {
	x, n := utf8.DecodeLastRuneInString(left)
	y, k := utf8.DecodeRuneInString(right)
	if n == 0 || k == 0 {
		return
	}
	first, second := seamKind(x), seamKind(y)
	switch {
	case first != none && second != none:
		m.apart[first][second] = false
	case second == seamMark:
		m.beside[x] = true
	}
}

// meetsMark says whether a token ends as one does that meets a mark behind it in a merge.
func (m *seams) meetsMark(token string) bool {
	last, _ := utf8.DecodeLastRuneInString(token)
	kind := seamKind(last)
	return kind != none && !m.apart[kind][seamMark] || m.beside[last]
}

// next is the length of the first part of a text.
func (m *seams) next(s string) int {
	before, last := none, rune(0) // the character before: its kind, and itself
	for i, r := range s {
		kind := seamKind(r)
		switch {
		case i == 0 || kind == none:
		case before != none:
			if m.apart[before][kind] {
				return i
			}
		case kind == seamMark && !m.unknowns && !m.beside[last]:
			return i
		}
		before, last = kind, r
	}
	return len(s)
}
