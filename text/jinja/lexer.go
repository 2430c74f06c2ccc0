package jinja

import "strings"

// lexer cuts a source into tokens by the rules of jinja2's lexer with trim_blocks and
// lstrip_blocks.
type lexer struct {
	source    string
	at        int
	line      int
	lineStart bool // what was read last ended with a line
	tokens    []token
}

// lex is the tokens of a source, kEOF last. Line ends become \n, and the last one of
// the source is dropped.
func lex(source string) []token {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	l := &lexer{source: strings.TrimSuffix(source, "\n"), line: 1, lineStart: true}
	for l.at < len(l.source) {
		l.text()
	}
	l.emit(kEOF, "")
	return l.tokens
}

func (l *lexer) emit(k kind, text string) {
	l.tokens = append(l.tokens, token{k, text, l.line})
}

// advance moves on to end.
func (l *lexer) advance(end int) {
	passed := l.source[l.at:end]
	l.line += strings.Count(passed, "\n")
	l.lineStart = strings.HasSuffix(passed, "\n")
	l.at = end
}

// text reads up to the next tag, and the tag.
func (l *lexer) text() {
	open := tagStart(l.source, l.at)
	if open < 0 {
		l.emit(kData, l.source[l.at:])
		l.at = len(l.source)
		return
	}
	mark, sign, behind := l.source[open+1], byte(0), open+2
	if behind < len(l.source) && (l.source[behind] == '-' || l.source[behind] == '+') {
		sign = l.source[behind]
		behind++
	}
	l.data(l.source[l.at:open], sign, mark == '{')
	l.advance(behind)
	switch mark {
	case '#':
		l.comment()
	case '{':
		l.emit(kPrintBegin, "")
		l.tag("}}", kPrintEnd)
	default:
		if end, ok := l.word("raw", false); ok {
			l.advance(end)
			l.raw()
			return
		}
		l.emit(kBlockBegin, "")
		l.tag("%}", kBlockEnd)
	}
}

// tagStart is where the next tag starts, -1: nowhere.
func tagStart(s string, from int) int {
	for i := from; i+1 < len(s); i++ {
		if s[i] == '{' && (s[i+1] == '{' || s[i+1] == '%' || s[i+1] == '#') {
			return i
		}
	}
	return -1
}

// data emits text before a tag. A minus takes all white space at its end, and a
// statement or comment without a sign what is on its own line.
func (l *lexer) data(text string, sign byte, prints bool) {
	switch {
	case sign == '-':
		text = strings.TrimRightFunc(text, isSpace)
	case sign == 0 && !prints:
		line := strings.LastIndexByte(text, '\n') + 1
		if (line > 0 || l.lineStart) && strings.TrimLeftFunc(text[line:], isSpace) == "" {
			text = text[:line]
		}
	}
	if text != "" {
		l.emit(kData, text)
	}
}

// comment passes over one.
func (l *lexer) comment() {
	i := strings.Index(l.source[l.at:], "#}")
	if i < 0 && l.at == len(l.source) {
		return
	}
	if i < 0 {
		throwSyntax(l.line, "Missing end of comment tag")
	}
	end := l.at + i
	sign := byte(0)
	if i > 0 {
		sign = l.source[end-1]
	}
	l.advance(l.trimmed(end+2, sign, true))
}

// trimmed is where the text goes on behind a tag that ends at end: a minus takes the
// white space that follows, a statement or comment without a sign one line end.
func (l *lexer) trimmed(end int, sign byte, line bool) int {
	switch {
	case sign == '-':
		rest := l.source[end:]
		return end + len(rest) - len(strings.TrimLeftFunc(rest, isSpace))
	case sign != '+' && line && strings.HasPrefix(l.source[end:], "\n"):
		return end + 1
	}
	return end
}

// word says whether a statement consists of one word, raw or endraw, and where the
// text goes on behind it.
func (l *lexer) word(word string, line bool) (int, bool) {
	rest := strings.TrimLeftFunc(l.source[l.at:], isSpace)
	if !strings.HasPrefix(rest, word) {
		return 0, false
	}
	rest = strings.TrimLeftFunc(rest[len(word):], isSpace)
	sign := byte(0)
	if rest != "" && (rest[0] == '-' || line && rest[0] == '+') {
		sign, rest = rest[0], rest[1:]
	}
	if !strings.HasPrefix(rest, "%}") {
		return 0, false
	}
	return l.trimmed(len(l.source)-len(rest)+2, sign, line), true
}

// raw reads what is between {% raw %} and {% endraw %}.
func (l *lexer) raw() {
	begin := l.at
	lineStart := l.lineStart
	if begin == len(l.source) {
		return
	}
	for {
		i := strings.Index(l.source[l.at:], "{%")
		if i < 0 {
			throwSyntax(l.line, "Missing end of raw directive")
		}
		open := l.at + i
		sign, behind := byte(0), open+2
		if behind < len(l.source) && (l.source[behind] == '-' || l.source[behind] == '+') {
			sign = l.source[behind]
			behind++
		}
		l.advance(behind)
		if end, ok := l.word("endraw", true); ok {
			l.lineStart = lineStart
			l.data(l.source[begin:open], sign, false)
			l.advance(end)
			return
		}
	}
}
