package text

import (
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in the text as it is written, before the
// text is cut into words.
type addedToken struct {
	id         int32
	content    string // what is looked for
	written    string // as the file has it: content before it was normalised
	special    bool   // not shown when ids become text
	singleWord bool   // counts only with no word character beside it
	lstrip     bool   // takes the white space before it along
	rstrip     bool   // takes the white space after it along
	normalized bool   // is looked for in the normalised text
}

// matcher finds added tokens in a text: leftmost first, the longest of those
// that start there.
type matcher struct {
	tokens []addedToken
	allow  func(t *addedToken, start, stop int) bool // nil: all matches count
	trie   *trie
}

// newMatcher makes a matcher for tokens; one without content is never found.
func newMatcher(tokens []addedToken) *matcher {
	contents := make([]string, len(tokens))
	for i, t := range tokens {
		contents[i] = t.content
	}
	return &matcher{tokens: tokens, trie: newTrie(contents)}
}

// allowing is m where only those matches count that allow says yes to, which is asked
// once for each. One that does not count is text.
func (m *matcher) allowing(allow func(t *addedToken, start, stop int) bool) *matcher {
	asking := *m
	asking.allow = allow
	return &asking
}

// split walks through s and calls token for every added token that counts, and
// plain for what is between them, never empty, with where that starts. A match that
// does not count as a single word is passed over whole, as in the reference.
func (m *matcher) split(s string, plain func(s string, start int), token func(int32)) {
	if len(m.tokens) == 0 {
		if s != "" {
			plain(s, 0)
		}
		return
	}
	done, i := 0, 0
	for i < len(s) {
		k, n := m.trie.longest(s[i:])
		if n == 0 {
			i++
			continue
		}
		t := &m.tokens[k]
		start, stop := i, i+n
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
			plain(s[done:start], done)
		}
		token(t.id)
		done = stop
	}
	if done < len(s) {
		plain(s[done:], done)
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
