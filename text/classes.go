package text

import (
	"unicode"
	"unicode/utf8"
)

// class is what the patterns of pre-tokenizers tell characters apart by.
type class uint8

const (
	other  class = iota
	letter       // \p{L}
	number       // \p{N}
	space        // \s
)

var asciiClass = func() (t [utf8.RuneSelf]class) {
	for c := range t {
		t[c] = classOf(rune(c))
	}
	return t
}()

func classOf(r rune) class {
	switch {
	case isLetter(r):
		return letter
	case isNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// isLetter is \p{L} of Unicode 16.0.
func isLetter(r rune) bool { return unicode.Is(letterTable, r) }

// isNumber is \p{N} of Unicode 16.0.
func isNumber(r rune) bool { return unicode.Is(numberTable, r) }

// isPunctuation is what the Punctuation step cuts at.
func isPunctuation(r rune) bool { return unicode.Is(punctuation(), r) }

// isWord is what counts as part of a word where words are told apart.
func isWord(r rune) bool { return unicode.Is(wordCharTable(), r) }

// isDigit is what the Digits pre-tokenizer cuts at: \p{N} of Unicode 17.0, as
// that step follows another table in the reference.
func isDigit(r rune) bool {
	return isNumber(r) || r >= 0x11DE0 && r <= 0x11DE9 || r >= 0x16FF4 && r <= 0x16FF6
}

// classAt is the class and the length of the character at s[i].
func classAt(s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return classOf(r), n
}

// runOf is the end of the run of characters of class c that starts at s[i].
func runOf(c class, s string, i int) int {
	for i < len(s) {
		k, n := classAt(s, i)
		if k != c {
			break
		}
		i += n
	}
	return i
}
