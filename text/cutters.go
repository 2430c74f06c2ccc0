package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// each cuts at every character of a kind: a part is one of them, or the text
// before the next.
func each(is func(rune) bool) func(string) int {
	return func(s string) int {
		if r, n := utf8.DecodeRuneInString(s); is(r) {
			return n
		}
		if i := strings.IndexFunc(s, is); i >= 0 {
			return i
		}
		return len(s)
	}
}

// runs cuts between the characters of a kind and the others.
func runs(is func(rune) bool) func(string) int {
	return func(s string) int {
		r, _ := utf8.DecodeRuneInString(s)
		kind := is(r)
		if i := strings.IndexFunc(s, func(r rune) bool { return is(r) != kind }); i >= 0 {
			return i
		}
		return len(s)
	}
}

// nextWordOrSymbols is a run of word characters, of white space, or of others.
func nextWordOrSymbols(s string) int {
	kind := func(r rune) int {
		switch {
		case isWord(r):
			return 0
		case unicode.IsSpace(r):
			return 1
		}
		return 2
	}
	r, _ := utf8.DecodeRuneInString(s)
	first := kind(r)
	if i := strings.IndexFunc(s, func(r rune) bool { return kind(r) != first }); i >= 0 {
		return i
	}
	return len(s)
}

// startsWithSpace says whether a part, not empty, starts with white space.
func startsWithSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}
