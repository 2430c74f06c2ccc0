package jinja

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// digits is the length of the decimal digits that s starts with, single underscores
// between them.
func digits(s string) int {
	return digitsOf(s, func(c byte) bool { return c >= '0' && c <= '9' })
}

// based is the length of a number such as 0x1f, 0o17 or 0b11; 0: it is none.
func based(s string) int {
	var n int
	rest := strings.TrimPrefix(s[2:], "_")
	switch s[1] {
	case 'x', 'X':
		n = digitsOf(rest, func(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 })
	case 'o', 'O':
		n = digitsOf(rest, func(c byte) bool { return c >= '0' && c <= '7' })
	case 'b', 'B':
		n = digitsOf(rest, func(c byte) bool { return c == '0' || c == '1' })
	}
	if n == 0 {
		return 0
	}
	return len(s) - len(rest) + n
}

func digitsOf(s string, digit func(byte) bool) int {
	n := 0
	for i := range len(s) {
		switch {
		case digit(s[i]):
			n = i + 1
		case s[i] != '_' || n != i || i == 0:
			return n
		}
	}
	return n
}

// numberValue is the value of a number in a source.
func numberValue(t token) Value {
	if t.kind == kFloat {
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil && f == 0 {
			throwSyntax(t.line, "bad number %s", t.text)
		}
		return f
	}
	if len(t.text) > maxDigits {
		throwSyntax(t.line, "a number has %d digits, at most %d are taken", len(t.text), maxDigits)
	}
	n, ok := new(big.Int).SetString(t.text, 0)
	if !ok {
		throwSyntax(t.line, "bad number %s", t.text)
	}
	return whole(n)
}

// simpleEscapes are those of one letter.
var simpleEscapes = map[byte]byte{
	'\\': '\\', '\'': '\'', '"': '"', 'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// unescape is the value of a string in a source, by Python's unicode-escape codec.
func unescape(s string, line int) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		text, n := escape(s, line)
		b.WriteString(text)
		s = s[n:]
	}
	return b.String()
}

// escape is what the escape behind a backslash stands for, and its length.
func escape(s string, line int) (string, int) {
	c := s[0]
	if simple, ok := simpleEscapes[c]; ok {
		return string(rune(simple)), 1
	}
	switch c {
	case '\n':
		return "", 1
	case 'x':
		return hexEscape(s, 2, line)
	case 'u':
		return hexEscape(s, 4, line)
	case 'U':
		return hexEscape(s, 8, line)
	case 'N':
		throwUnsupported(`line %d: \N{…} in a string`, line)
	}
	if c >= '0' && c <= '7' {
		n := 1
		for n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		code, _ := strconv.ParseUint(s[:n], 8, 16) // digits only
		return string(rune(code)), n
	}
	r, n := utf8.DecodeRuneInString(s)
	if r < utf8.RuneSelf {
		return `\` + s[:1], 1
	}
	return `\` + codePoint(r), n // the codec spells it before it looks for escapes
}

// codePoint is how Python spells a character that is not ASCII, without the backslash.
func codePoint(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf("x%02x", r)
	case r < 0x10000:
		return fmt.Sprintf("u%04x", r)
	}
	return fmt.Sprintf("U%08x", r)
}

func hexEscape(s string, length, line int) (string, int) {
	if len(s) < 1+length {
		throwSyntax(line, `a truncated \%c escape in a string`, s[0])
	}
	code, err := strconv.ParseUint(s[1:1+length], 16, 32)
	if err != nil || code > utf8.MaxRune {
		throwSyntax(line, `a bad escape \%s in a string`, s[:1+length])
	}
	if code >= 0xd800 && code < 0xe000 {
		throwUnsupported(`line %d: half a character, \%s, in a string`, line, s[:1+length])
	}
	return string(rune(code)), 1 + length
}
