package jinja

import (
	"html"
	"strings"
)

// escapes are the characters that mean something in HTML.
var escapes = map[rune]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '\'': "&#39;", '"': "&#34;"}

// escape is a text as HTML; one that is safe stays as it is.
func (r *rendering) escape(t Text) Text {
	if t.safe {
		return t
	}
	if !strings.ContainsAny(t.s, `&<>'"`) {
		r.scan(len(t.s))
		t.safe = true
		return t
	}
	b := builder{run: r, safe: true}
	for i, c := range t.s {
		s, ok := escapes[c]
		if !ok {
			s = string(c)
		}
		b.like(t, i, s)
	}
	return b.text()
}

// htmlFilters are filters of HTML, addresses and JSON.
func htmlFilters() methods {
	escape := &methodCode{sig(""), func(r *rendering, v Value, _ bound) Value { return r.escape(r.soft(v)) }}
	return methods{
		"e":      escape,
		"escape": escape,
		"forceescape": {sig(""), func(r *rendering, v Value, _ bound) Value {
			return r.escape(r.str(v))
		}},
		"safe": {sig(""), func(r *rendering, v Value, _ bound) Value {
			t := r.str(v)
			t.safe = true
			return t
		}},
		"striptags": {sig(""), func(r *rendering, v Value, _ bound) Value { return r.stripTags(r.str(v)) }},
		"urlencode": {sig(""), func(r *rendering, v Value, _ bound) Value { return r.urlEncode(v) }},
		"xmlattr": {sig("autospace?"), func(r *rendering, v Value, a bound) Value {
			return r.xmlAttributes(v, a.flag(r, 0, true))
		}},
		"tojson": {sig("ensure_ascii? indent? separators? sort_keys?"), func(r *rendering, v Value, a bound) Value {
			return r.toJSON(v, a)
		}},
	}
}

// stripTags takes tags and comments out, and makes all white space single spaces. All
// of the result counts as foreign if any of the text does.
func (r *rendering) stripTags(t Text) Text {
	r.takeTimes(len(t.s), 2)
	s := cutOut(cutOut(t.s, "<!--", "-->"), "<", ">")
	s = html.UnescapeString(singleSpaces(s))
	if len(t.foreign) > 0 {
		return Foreign(s)
	}
	return Text{s: s}
}

// singleSpaces is s with a space for all white space between words, and none around.
func singleSpaces(s string) string {
	var b strings.Builder
	fields(s, -1, func(from, to int) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s[from:to])
	})
	return b.String()
}

// cutOut is s without all that begins and ends so.
func cutOut(s, begin, end string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, begin)
		if i < 0 {
			break
		}
		k := strings.Index(s[i+len(begin):], end)
		if k < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+len(begin)+k+len(end):]
	}
	return b.String() + s
}

// urlEncode quotes a text for an address, or the names and values of a dict or of
// pairs for a query.
func (r *rendering) urlEncode(v Value) Value {
	if _, ok := v.(Text); ok || !isIterable(v) {
		return r.quoteURL(r.str(v), "/", "%20")
	}
	pairs := v
	if d, ok := v.(*Dict); ok {
		pairs = &view{d, "items"}
	}
	var parts []Text
	for _, p := range r.items(pairs) {
		pair := r.items(p)
		if len(pair) != 2 {
			throw("ValueError", "not enough values to unpack (expected 2, got %d)", len(pair))
		}
		parts = append(parts, r.concat(r.quoteURL(r.str(pair[0]), "", "+"), Text{s: "="}, r.quoteURL(r.str(pair[1]), "", "+")))
	}
	return r.join(Text{s: "&"}, parts)
}

// quoteURL quotes all but letters, digits, some signs and what is safe.
func (r *rendering) quoteURL(t Text, safe, space string) Text {
	const hex = "0123456789ABCDEF"
	b := builder{run: r}
	for i := range len(t.s) {
		switch c := t.s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-~"+safe, c) >= 0:
			b.like(t, i, string(rune(c)))
		case c == ' ':
			b.like(t, i, space)
		default:
			b.like(t, i, string([]byte{'%', hex[c>>4], hex[c&15]}))
		}
	}
	return b.text()
}

// xmlAttributes are the keys and values of a dict as attributes of a tag.
func (r *rendering) xmlAttributes(v Value, autospace bool) Value {
	d, ok := v.(*Dict)
	if !ok {
		r.refuseUndefined(v)
		throw("AttributeError", "'%s' object has no attribute 'items'", typeName(v))
	}
	b := builder{run: r, safe: r.escapes}
	for i, k := range d.keys {
		if v := d.values[i]; v == nil || isUndefined(v) {
			continue
		}
		name := r.str(k)
		if strings.ContainsAny(name.s, " \t\n\r\f\v/>=") {
			throw("ValueError", "Invalid character in attribute name: %s", r.repr(name).s)
		}
		if len(b.b) > 0 || autospace {
			b.own(" ")
		}
		b.add(r.escape(name))
		b.own(`="`)
		b.add(r.escape(r.soft(d.values[i])))
		b.own(`"`)
	}
	return b.text()
}
