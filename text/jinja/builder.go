package jinja

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
func (b *builder) add(t Text) { b.addPart(t, 0, len(t.s)) }

// addPart appends the bytes of a text from from up to to.
func (b *builder) addPart(t Text, from, to int) {
	spans := t.spans(from, to)
	b.run.take(to - from + spanSize*len(spans))
	at := len(b.b) - from
	b.b = append(b.b, t.s[from:to]...)
	for _, f := range spans {
		b.mark(at+max(f.From, from), at+min(f.To, to))
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
