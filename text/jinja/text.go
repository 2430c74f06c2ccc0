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

// slice is the bytes from from up to to.
func (t Text) slice(from, to int) Text {
	part := Text{s: t.s[from:to], safe: t.safe}
	if from == to {
		return part
	}
	if len(t.foreign) == 1 && t.foreign[0].From <= from && t.foreign[0].To >= to {
		part.foreign = []Span{{0, to - from}}
		return part
	}
	for _, f := range t.foreign[t.spanAt(from):] {
		if f.From >= to {
			break
		}
		part.foreign = append(part.foreign, Span{max(f.From, from) - from, min(f.To, to) - from})
	}
	return part
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

// builder puts a text together.
type builder struct {
	run     *rendering
	b       []byte
	foreign []Span
	safe    bool
}

// spanSize and textSize are what a span counts as and a text beside its bytes, in bytes.
const spanSize, textSize = 16, 48

// add appends a text.
func (b *builder) add(t Text) {
	b.run.take(len(t.s) + spanSize*len(t.foreign))
	at := len(b.b)
	b.b = append(b.b, t.s...)
	for _, f := range t.foreign {
		b.mark(at+f.From, at+f.To)
	}
}

// mark says that bytes, which are the last ones so far, are foreign.
func (b *builder) mark(from, to int) {
	if n := len(b.foreign); n > 0 && b.foreign[n-1].To == from {
		b.foreign[n-1].To = to
		return
	}
	b.foreign = append(b.foreign, Span{from, to})
}

// own appends what is no part of a request.
func (b *builder) own(s string) {
	b.run.take(len(s))
	b.b = append(b.b, s...)
}

// like appends s, which takes the place of the byte of t at i. As it is called for each
// character, it takes a step for every 64 bytes only.
func (b *builder) like(t Text, i int, s string) {
	at := len(b.b)
	b.run.count(len(s))
	b.run.spend((at+len(s))/64 - at/64)
	b.b = append(b.b, s...)
	if t.isForeign(i) && s != "" {
		b.mark(at, at+len(s))
	}
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

// fill appends a character n times.
func (b *builder) fill(c Text, n int) {
	if n <= 0 {
		return
	}
	b.run.takeTimes(n, len(c.s))
	at := len(b.b)
	for range n {
		b.b = append(b.b, c.s...)
	}
	if c.isForeign(0) {
		b.mark(at, len(b.b))
	}
}

func (b *builder) text() Text {
	return Text{s: string(b.b), foreign: b.foreign, safe: b.safe}
}

// concat is texts one after the other.
func (r *rendering) concat(parts ...Text) Text {
	size := 0
	for _, p := range parts {
		size += len(p.s)
	}
	r.room(size)
	b := builder{run: r, b: make([]byte, 0, size)}
	for _, p := range parts {
		b.add(p)
	}
	return b.text()
}

// join is texts with another one between them.
func (r *rendering) join(separator Text, parts []Text) Text {
	b := builder{run: r}
	for i, p := range parts {
		if i > 0 {
			b.add(separator)
		}
		b.add(p)
	}
	return b.text()
}
