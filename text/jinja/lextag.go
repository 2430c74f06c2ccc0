package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tag reads the tokens of a tag up to its end, which counts only where no bracket is
// open.
func (l *lexer) tag(closer string, end kind) {
	var open []string
	for l.at < len(l.source) {
		if len(open) == 0 && l.tagEnd(closer, end) {
			return
		}
		rest := l.source[l.at:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case isSpace(r):
			l.advance(l.at + size)
		case r == '\'' || r == '"':
			l.quoted(byte(r))
		case r >= '0' && r <= '9':
			n, k := number(l.source, l.at)
			l.emit(k, strings.ReplaceAll(rest[:n], "_", ""))
			l.advance(l.at + n)
		case r == '_' || unicode.IsLetter(r):
			n := nameLength(rest)
			l.emit(kName, rest[:n])
			l.advance(l.at + n)
		default:
			open = l.operator(rest, open)
		}
	}
}

// tagEnd reads the end of a tag if it is there.
func (l *lexer) tagEnd(closer string, end kind) bool {
	rest, sign := l.source[l.at:], byte(0)
	if rest[0] == '-' || rest[0] == '+' && end == kBlockEnd {
		sign, rest = rest[0], rest[1:]
	}
	if !strings.HasPrefix(rest, closer) {
		return false
	}
	l.emit(end, "")
	l.advance(l.trimmed(len(l.source)-len(rest)+2, sign, end == kBlockEnd))
	return true
}

// operator reads one and keeps account of the brackets that are open.
func (l *lexer) operator(rest string, open []string) []string {
	for _, o := range operators {
		if !strings.HasPrefix(rest, o) {
			continue
		}
		if c := closing[o]; c != "" {
			open = append(open, c)
		}
		if o == ")" || o == "]" || o == "}" {
			if len(open) == 0 {
				throwSyntax(l.line, "unexpected '%s'", o)
			}
			if want := open[len(open)-1]; want != o {
				throwSyntax(l.line, "unexpected '%s', expected '%s'", o, want)
			}
			open = open[:len(open)-1]
		}
		l.emit(kOperator, o)
		l.advance(l.at + len(o))
		return open
	}
	r, _ := utf8.DecodeRuneInString(rest)
	throwSyntax(l.line, "unexpected char %q", r)
	return nil
}

// quoted reads a string.
func (l *lexer) quoted(quote byte) {
	for i := l.at + 1; i < len(l.source); i++ {
		switch l.source[i] {
		case '\\':
			i++
		case quote:
			l.emit(kString, unescape(l.source[l.at+1:i], l.line))
			l.advance(i + 1)
			return
		}
	}
	throwSyntax(l.line, "unexpected char %q", quote)
}

// nameLength is the length of the name that s starts with.
func nameLength(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Nl, unicode.Pc) {
			return i
		}
	}
	return len(s)
}

// number is the length of the number at s[at:], and whether it is whole.
func number(s string, at int) (int, kind) {
	rest := s[at:]
	if len(rest) > 1 && rest[0] == '0' {
		if n := based(rest); n > 0 {
			return n, kInteger
		}
	}
	whole := digits(rest)
	end, float := whole, false
	if at == 0 || s[at-1] != '.' {
		if end < len(rest) && rest[end] == '.' {
			if n := digits(rest[end+1:]); n > 0 {
				end, float = end+1+n, true
			}
		}
		if n := exponent(rest[end:]); n > 0 {
			end, float = end+n, true
		}
	}
	if float {
		return end, kFloat
	}
	if rest[0] == '0' { // zeros only; other digits would be a number of their own
		whole = len(rest[:whole]) - len(strings.TrimLeft(rest[:whole], "0_"))
		whole = len(strings.TrimRight(rest[:whole], "_"))
	}
	return whole, kInteger
}

// exponent is the length of one, such as e+12.
func exponent(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	i := 1
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	n := digits(s[i:])
	if n == 0 {
		return 0
	}
	return i + n
}
