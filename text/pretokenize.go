package text

import (
	"strings"
	"unicode/utf8"
)

// step cuts pieces of text into smaller ones.
type step struct {
	prefixSpace bool             // a piece that does not start with a space gets one
	next        func(string) int // length of the first part of a text that is not empty; nil: the whole
}

// pipeline is the pre-tokenizer: the steps in their order, each cutting what
// the one before it left.
type pipeline []step

// words calls emit with every word of s. A word is never empty.
func (p pipeline) words(s string, emit func(string)) {
	if s == "" {
		return
	}
	if len(p) == 0 {
		emit(s)
		return
	}
	first, rest := p[0], p[1:]
	if first.prefixSpace && !strings.HasPrefix(s, " ") {
		s = " " + s
	}
	if first.next == nil {
		rest.words(s, emit)
		return
	}
	for s != "" {
		n := first.next(s)
		rest.words(s[:n], emit)
		s = s[n:]
	}
}

// patterns are the regular expressions of Split steps that are known, with what
// finds their first match. All of them match at every place.
var patterns = map[string]func(string) int{
	gpt2Pattern:   nextGPT2,
	llama3Pattern: nextLlama3,
	qwen2Pattern:  nextQwen2,
}

// nextDigit cuts at every digit: the text before the first one, or that one.
func nextDigit(s string) int { return cutAt(isDigit, s) }

// nextNumber is nextDigit for the pattern \p{N}.
func nextNumber(s string) int { return cutAt(isNumber, s) }

func cutAt(is func(rune) bool, s string) int {
	if r, n := utf8.DecodeRuneInString(s); is(r) {
		return n
	}
	if i := strings.IndexFunc(s, is); i >= 0 {
		return i
	}
	return len(s)
}

// nextDigits is a run of digits, or of characters that are none.
func nextDigits(s string) int {
	if r, _ := utf8.DecodeRuneInString(s); !isDigit(r) {
		return nextDigit(s)
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return !isDigit(r) }); i >= 0 {
		return i
	}
	return len(s)
}
