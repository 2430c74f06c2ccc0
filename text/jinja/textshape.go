package jinja

import (
	"strings"
)

// shapeMethods are methods of strings that change their width or their letters, or
// that put values into them.
func shapeMethods() methods {
	m := methods{
		"zfill": {sig("/width"), func(r *rendering, self Value, a bound) Value {
			return r.zeroFill(self.(Text), a.number(r, 0, 0))
		}},
		"expandtabs": {sig("tabsize?"), func(r *rendering, self Value, a bound) Value {
			return r.expandTabs(self.(Text), a.number(r, 0, 8))
		}},
		"format": {sig("* **"), func(r *rendering, self Value, a bound) Value {
			return r.format(self.(Text), a)
		}},
		"format_map": {sig("/mapping"), func(r *rendering, self Value, a bound) Value {
			d, ok := a.vals[0].(*Dict)
			if !ok {
				throw("TypeError", "format_map() takes a mapping, not %s", typeName(a.vals[0]))
			}
			return r.format(self.(Text), r.namedBy(d))
		}},
	}
	for name, side := range map[string]byte{"center": '^', "ljust": '<', "rjust": '>'} {
		m[name] = &methodCode{sig("/width /fillchar?"), func(r *rendering, self Value, a bound) Value {
			fill := a.textOr(r, 1, " ")
			if fill.s == "" || runeLen(fill.s) != len(fill.s) {
				throw("TypeError", "The fill character must be exactly one character long")
			}
			return r.pad(self.(Text), a.number(r, 0, 0), fill, side)
		}}
	}
	for name, change := range caseChanges {
		m[name] = &methodCode{sig(""), func(r *rendering, self Value, _ bound) Value {
			return r.changeCase(self.(Text), change)
		}}
	}
	for _, name := range []string{"encode", "translate", "maketrans", "isidentifier"} {
		m[name] = &methodCode{sig("* **"), func(*rendering, Value, bound) Value {
			throwUnsupported("the method '%s' of strings", name)
			return nil
		}}
	}
	return m
}

// namedBy are arguments by the names in a dict.
func (r *rendering) namedBy(d *Dict) bound {
	r.takeTimes(d.Len(), namedSize)
	a := bound{name: "format_map"}
	for i, k := range d.keys {
		if name, ok := k.(Text); ok {
			a.names, a.kw = append(a.names, name), append(a.kw, d.values[i])
		}
	}
	return a
}

// pad makes a text as wide as that many code points. Side says where the text stands:
// <, > or ^.
func (r *rendering) pad(t Text, width int, fill Text, side byte) Text {
	n := width - r.runes(t)
	if n <= 0 {
		return t
	}
	left := 0
	switch side {
	case '>':
		left = n
	case '^':
		left = n/2 + n&width&1 // as CPython rounds
	}
	b := builder{run: r, safe: t.safe}
	b.fill(fill, left)
	b.add(t)
	b.fill(fill, n-left)
	return b.text()
}

func (r *rendering) zeroFill(t Text, width int) Text {
	sign := 0
	if strings.HasPrefix(t.s, "+") || strings.HasPrefix(t.s, "-") {
		sign = 1
	}
	b := builder{run: r, safe: t.safe}
	b.addPart(t, 0, sign)
	b.fill(Text{s: "0"}, width-r.runes(t))
	b.addPart(t, sign, len(t.s))
	return b.text()
}

func (r *rendering) expandTabs(t Text, size int) Text {
	b := builder{run: r, safe: t.safe}
	column := 0
	for i, c := range t.s {
		switch c {
		case '\t':
			if size > 0 {
				n := size - column%size
				b.fill(Text{s: " "}, n)
				column += n
			}
			continue
		case '\n', '\r':
			column = -1
		}
		b.like(t, i, string(c))
		column++
	}
	return b.text()
}
