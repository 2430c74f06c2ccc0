package jinja

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Text is a string of a template. It is not changed once it is made.
type Text struct {
	s       string
	foreign []Span // ascending, apart from each other
	safe    bool   // marked as HTML that is escaped already
}

// Span is the bytes from From up to To of a text.
type Span struct{ From, To int }

// String makes a text of the caller's own. What is no UTF-8 in it becomes U+FFFD.
func String(s string) Text { return Text{s: strings.ToValidUTF8(s, "\uFFFD")} }

// Foreign makes a text that came from the request, every byte of it. What is no UTF-8
// in it becomes U+FFFD.
func Foreign(s string) Text {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if s == "" {
		return Text{}
	}
	return Text{s: s, foreign: []Span{{0, len(s)}}}
}

// String is the text itself.
func (t Text) String() string { return t.s }

// Foreign is the bytes of the text that came from the request, in ascending order.
// It is read only.
func (t Text) Foreign() []Span { return t.foreign }

// spans are those of the foreign bytes from from up to to, whole.
func (t Text) spans(from, to int) []Span {
	if from == to {
		return nil
	}
	first, next := t.spanAt(from), t.spanAt(to)
	if next < len(t.foreign) && t.foreign[next].From < to {
		next++
	}
	return t.foreign[first:next]
}

// slice is the bytes from from up to to. It counts nothing: part does.
func (t Text) slice(from, to int) Text {
	part := Text{s: t.s[from:to], safe: t.safe}
	if spans := t.spans(from, to); len(spans) > 0 {
		part.foreign = make([]Span, len(spans))
		for i, f := range spans {
			part.foreign[i] = Span{max(f.From, from) - from, min(f.To, to) - from}
		}
	}
	return part
}

// part is slice within a rendering, where the spans count that are copied.
func (r *rendering) part(t Text, from, to int) Text {
	n := spanSize * len(t.spans(from, to))
	r.count(n)
	r.spend(n / 64)
	return t.slice(from, to)
}

// Prefix is the first n bytes of the text; a character is not cut in two by the caller.
func (t Text) Prefix(n int) Text { return t.slice(0, n) }

// Append is the text with one of the caller's own behind it.
func (t Text) Append(own string) Text {
	t.s += String(own).s
	return t
}

// plain is the text without its mark of being safe, as str() gives it.
func (t Text) plain() Text {
	t.safe = false
	return t
}

// runes is how many code points a text has.
func (r *rendering) runes(t Text) int {
	r.scan(len(t.s))
	return utf8.RuneCountInString(t.s)
}

// skip is where the code point is that is n behind the one at byte i of a text, or
// before it with n < 0. The text has that many.
func skip(s string, i, n int) int {
	for ; n > 0; n-- {
		i += runeLen(s[i:])
	}
	for ; n < 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// ascii says whether bytes are code points.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// spanAt is the number of the first span that ends behind byte i.
func (t Text) spanAt(i int) int {
	return sort.Search(len(t.foreign), func(k int) bool { return t.foreign[k].To > i })
}

// isForeign says whether the byte at i is.
func (t Text) isForeign(i int) bool {
	k := t.spanAt(i)
	return k < len(t.foreign) && t.foreign[k].From <= i
}
