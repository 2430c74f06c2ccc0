package text

import (
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in the text as it is written, before the
// text is cut into words.
type addedToken struct {
	id         int32
	content    string
	special    bool // not shown when ids become text
	singleWord bool // counts only with no word character beside it
	lstrip     bool // takes the white space before it along
	rstrip     bool // takes the white space after it along
	normalized bool // is looked for in the normalised text
}

// matcher finds added tokens in a text: leftmost first, the longest of those
// that start there. It is a trie over bytes.
type matcher struct {
	tokens []addedToken
	allow  func(t *addedToken, start, stop int) bool // nil: all matches count
	next   map[edge]int32                            // node 0 is the root
	ends   map[int32]int                             // node → index in tokens
	first  [256]bool                                 // bytes that a token starts with
}

type edge struct {
	node int32
	b    byte
}

// newMatcher makes a matcher for tokens; one without content is never found.
func newMatcher(tokens []addedToken) *matcher {
	m := &matcher{tokens: tokens, next: make(map[edge]int32), ends: make(map[int32]int)}
	nodes := int32(1)
	for i, t := range tokens {
		if t.content == "" {
			continue
		}
		m.first[t.content[0]] = true
		at := int32(0)
		for k := range len(t.content) {
			e := edge{at, t.content[k]}
			n, ok := m.next[e]
			if !ok {
				n = nodes
				nodes++
				m.next[e] = n
			}
			at = n
		}
		m.ends[at] = i
	}
	return m
}

// longest is the longest token that s starts with; nil: none.
func (m *matcher) longest(s string) *addedToken {
	var found *addedToken
	at := int32(0)
	for i := range len(s) {
		n, ok := m.next[edge{at, s[i]}]
		if !ok {
			break
		}
		at = n
		if k, ok := m.ends[at]; ok {
			found = &m.tokens[k]
		}
	}
	return found
}

// allowing is m where only those matches count that allow says yes to, which is asked
// once for each. One that does not count is text.
func (m *matcher) allowing(allow func(t *addedToken, start, stop int) bool) *matcher {
	asking := *m
	asking.allow = allow
	return &asking
}

// split walks through s and calls token for every added token that counts, and
// plain for what is between them, never empty. A match that does not count as a
// single word is passed over whole, as in the reference.
func (m *matcher) split(s string, plain func(string), token func(int32)) {
	done, i := 0, 0
	for i < len(s) {
		if !m.first[s[i]] {
			i++
			continue
		}
		t := m.longest(s[i:])
		if t == nil {
			i++
			continue
		}
		start, stop := i, i+len(t.content)
		i = stop
		if t.singleWord && (endsWithWord(s[:start]) || startsWithWord(s[stop:])) {
			continue
		}
		if m.allow != nil && !m.allow(t, start, stop) {
			continue
		}
		if t.lstrip {
			start = done + trimmedRight(s[done:start])
		}
		if t.rstrip {
			stop += leadingSpace(s[stop:])
			i = stop
		}
		if done < start {
			plain(s[done:start])
		}
		token(t.id)
		done = stop
	}
	if done < len(s) {
		plain(s[done:])
	}
}

// trimmedRight is the length of s without the white space at its end.
func trimmedRight(s string) int {
	for len(s) > 0 {
		r, n := utf8.DecodeLastRuneInString(s)
		if !unicode.IsSpace(r) {
			break
		}
		s = s[:len(s)-n]
	}
	return len(s)
}

// leadingSpace is the length of the white space that s starts with.
func leadingSpace(s string) int {
	for i, r := range s {
		if !unicode.IsSpace(r) {
			return i
		}
	}
	return len(s)
}

func startsWithWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && isWord(r)
}

func endsWithWord(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && isWord(r)
}

// isWord is \w of Unicode's regular expressions (UTS 18, annex C).
func isWord(r rune) bool {
	return isLetter(r) || r == '\u200c' || r == '\u200d' ||
		unicode.In(r, unicode.Other_Alphabetic, unicode.Nl, unicode.M, unicode.Nd, unicode.Pc)
}
