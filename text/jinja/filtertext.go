package jinja

import (
	"strings"
	"unicode"
)

// textFilters are filters of strings. What is no string is turned into one.
func textFilters() methods {
	return methods{
		"string": {sig(""), func(r *rendering, v Value, _ bound) Value { return r.soft(v) }},
		"trim": {sig("chars?"), func(r *rendering, v Value, a bound) Value {
			return r.strip(r.soft(v), a.get(0, nil), true, true)
		}},
		"replace": {sig("old new count?"), func(r *rendering, v Value, a bound) Value {
			count := -1
			if a.get(2, nil) != nil {
				count = a.number(r, 2, -1)
			}
			if !r.escapes {
				return r.replace(r.str(v), r.str(a.vals[0]), r.str(a.vals[1]), count)
			}
			t, old, new := r.soft(v), r.soft(a.vals[0]), r.soft(a.vals[1])
			if old.safe || new.safe && !t.safe {
				t = r.escape(t)
			}
			return r.replace(t, old, new, count)
		}},
		"indent": {sig("width? first? blank?"), func(r *rendering, v Value, a bound) Value {
			t, ok := v.(Text)
			if !ok {
				r.refuseUndefined(v)
				throw("TypeError", "can only concatenate str (not \"%s\") to str", typeName(v))
			}
			return r.indent(t, a)
		}},
		"join": {sig("d? attribute?"), func(r *rendering, v Value, a bound) Value {
			return r.joinFilter(v, a)
		}},
		"center": {sig("width?"), func(r *rendering, v Value, a bound) Value {
			return r.pad(r.soft(v), a.number(r, 0, 80), Text{s: " "}, '^')
		}},
		"format": {sig("* **"), func(r *rendering, v Value, a bound) Value {
			return r.formatFilter(r.soft(v), a)
		}},
		"wordcount": {sig(""), func(r *rendering, v Value, _ bound) Value {
			return wordCount(r.seen(v))
		}},
		"truncate": {sig("length? killwords? end? leeway?"), func(r *rendering, v Value, a bound) Value {
			return r.truncate(v, a)
		}},
		"wordwrap": {sig("width? break_long_words? wrapstring? break_on_hyphens?"), func(r *rendering, v Value, a bound) Value {
			return r.wordWrap(v, a)
		}},
	}
}

// wordCount is how many runs of letters, numbers and underscores there are.
func wordCount(s string) int64 {
	n, inWord := int64(0), false
	for _, c := range s {
		was := inWord
		if inWord = c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c); inWord && !was {
			n++
		}
	}
	return n
}

func caseFilters() methods {
	m := make(methods)
	for name, change := range map[string]caseChange{
		"upper": caseChanges["upper"], "lower": caseChanges["lower"], "capitalize": caseChanges["capitalize"], "title": wordTitle,
	} {
		m[name] = &methodCode{sig(""), func(r *rendering, v Value, _ bound) Value { return r.changeCase(r.soft(v), change) }}
	}
	return m
}

// indent puts a prefix before all lines but the first one, and those that are empty.
func (r *rendering) indent(t Text, a bound) Value {
	prefix, ok := a.get(0, int64(4)).(Text)
	if !ok {
		prefix = r.repeatText(Text{s: " "}, max(a.number(r, 0, 4), 0))
	}
	if t.safe {
		prefix.safe = true
	}
	first, blank := a.flag(r, 1, false), a.flag(r, 2, false)
	b := builder{run: r, safe: t.safe}
	for i, line := range r.lines(r.concat(t, Text{s: "\n"}), false) {
		if i > 0 {
			b.own("\n")
		}
		if i > 0 && (blank || line.s != "") || i == 0 && first {
			b.add(prefix)
		}
		b.add(line)
	}
	return b.text()
}

// joinFilter turns all items into texts, and escapes them where escaping is on and one
// of them is safe.
func (r *rendering) joinFilter(v Value, a bound) Value {
	items := r.items(v)
	if a.get(1, nil) != nil {
		items = r.mapped(items, r.getter(a.vals[1], absent{}))
	}
	separator := r.soft(a.get(0, Text{}))
	r.takeTimes(len(items), textSize)
	parts := make([]Text, len(items))
	safe := separator.safe
	for i, x := range items {
		parts[i] = r.soft(x)
		safe = safe || parts[i].safe
	}
	safe = safe && r.escapes
	if safe {
		separator = r.escape(separator)
		for i, p := range parts {
			parts[i] = r.escape(p)
		}
	}
	t := r.join(separator, parts)
	t.safe = safe
	return t
}

func (r *rendering) formatFilter(t Text, a bound) Value {
	switch {
	case len(a.rest) > 0 && len(a.names) > 0:
		throw("FilterArgumentError", "can't handle positional and keyword arguments at the same time")
	case len(a.names) > 0:
		d := NewDict()
		for i, n := range a.names {
			r.put(d, n, a.kw[i])
		}
		return r.percent(t, d)
	}
	return r.percent(t, &tuple{items: a.rest})
}

// truncate cuts a text that is too long, at the end of a word, and says so.
func (r *rendering) truncate(v Value, a bound) Value {
	t, ok := v.(Text)
	if !ok {
		throw("TypeError", "object of type '%s' cannot be truncated", typeName(v))
	}
	size, end, leeway := a.number(r, 0, 255), a.textOr(r, 2, "..."), a.number(r, 3, 5)
	endSize := r.runes(end)
	switch {
	case size < endSize:
		throw("AssertionError", "expected length >= %d, got %d", endSize, size)
	case leeway < 0:
		throw("AssertionError", "expected leeway >= 0, got %d", leeway)
	case r.runes(t) <= size+leeway:
		return t
	}
	part := r.slicedText(t, &slice{stop: int64(size - endSize)})
	if !a.flag(r, 1, false) {
		if i := strings.LastIndexByte(part.s, ' '); i >= 0 {
			part = r.part(part, 0, i)
		}
	}
	return r.addTexts(part, end)
}
