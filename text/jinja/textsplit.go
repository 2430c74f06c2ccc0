package jinja

import (
	"strings"
	"unicode/utf8"
)

// splitMethods are methods of strings that make several of one, or one of several.
func splitMethods() methods {
	return methods{
		"split": {sig("sep? maxsplit?"), func(r *rendering, self Value, a bound) Value {
			return &List{r.split(self.(Text), a, false)}
		}},
		"rsplit": {sig("sep? maxsplit?"), func(r *rendering, self Value, a bound) Value {
			return &List{r.split(self.(Text), a, true)}
		}},
		"splitlines": {sig("keepends?"), func(r *rendering, self Value, a bound) Value {
			return &List{r.values(r.lines(self.(Text), a.flag(r, 0, false)))}
		}},
		"partition": {sig("/sep"), func(r *rendering, self Value, a bound) Value {
			return r.partition(self.(Text), a.text(r, 0), false)
		}},
		"rpartition": {sig("/sep"), func(r *rendering, self Value, a bound) Value {
			return r.partition(self.(Text), a.text(r, 0), true)
		}},
		"join": {sig("/iterable"), func(r *rendering, self Value, a bound) Value {
			return r.joinStrings(self.(Text), a.vals[0])
		}},
	}
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// values are texts as values.
func (r *rendering) values(texts []Text) []Value {
	r.takeTimes(len(texts), textSize+valueSize)
	list := make([]Value, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}

// split is the parts of a text between separators, at most maxsplit+1 of them: the
// first ones, or from the right the last ones.
func (r *rendering) split(t Text, a bound, right bool) []Value {
	most := a.number(r, 1, -1)
	if most < 0 {
		most = len(t.s) + 1
	}
	r.scan(len(t.s))
	var parts []Value
	add := func(from, to int) {
		r.take(4 * valueSize)
		parts = append(parts, r.part(t, from, to))
	}
	switch sep := a.get(0, nil); {
	case sep == nil && right:
		r.fieldsFromRight(t, most, add)
	case sep == nil:
		fields(t.s, most, add)
	default:
		s := a.text(r, 0).s
		if s == "" {
			throw("ValueError", "empty separator")
		}
		splitAt(t.s, s, most, right, add)
	}
	if right {
		for i, k := 0, len(parts)-1; i < k; i, k = i+1, k-1 {
			parts[i], parts[k] = parts[k], parts[i]
		}
	}
	return parts
}

func splitAt(s, sep string, most int, right bool, add func(from, to int)) {
	from, to := 0, len(s)
	for ; most > 0; most-- {
		if right {
			i := strings.LastIndex(s[:to], sep)
			if i < 0 {
				break
			}
			add(i+len(sep), to)
			to = i
			continue
		}
		i := strings.Index(s[from:], sep)
		if i < 0 {
			break
		}
		add(from, from+i)
		from += i + len(sep)
	}
	add(from, to)
}

// fields are the parts of a text between white space, which is dropped.
func fields(s string, most int, add func(from, to int)) {
	at := 0
	for {
		at = len(s) - len(strings.TrimLeftFunc(s[at:], isSpace))
		switch end := strings.IndexFunc(s[at:], isSpace); {
		case at == len(s):
			return
		case most == 0:
			add(at, len(s))
			return
		case end < 0:
			add(at, len(s))
			return
		default:
			add(at, at+end)
			at += end
			most--
		}
	}
}

// fieldsFromRight is fields from the right end on.
func (r *rendering) fieldsFromRight(t Text, most int, add func(from, to int)) {
	s := t.s
	for {
		s = strings.TrimRightFunc(s, isSpace)
		i := strings.LastIndexFunc(s, isSpace)
		switch {
		case s == "":
			return
		case most == 0 || i < 0:
			add(0, len(s))
			return
		}
		from := i + runeLen(s[i:])
		add(from, len(s))
		s = s[:i]
		most--
	}
}

// isLineEnd is what splitlines takes for the end of a line.
func isLineEnd(c rune) bool {
	return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
}

// lines are those of a text.
func (r *rendering) lines(t Text, keep bool) []Text {
	r.scan(len(t.s))
	var list []Text
	for at := 0; at < len(t.s); {
		end, next := len(t.s), len(t.s)
		if i := strings.IndexFunc(t.s[at:], isLineEnd); i >= 0 {
			end = at + i
			next = end + runeLen(t.s[end:])
			if strings.HasPrefix(t.s[end:], "\r\n") {
				next = end + 2
			}
		}
		r.take(4 * valueSize)
		if keep {
			list = append(list, r.part(t, at, next))
		} else {
			list = append(list, r.part(t, at, end))
		}
		at = next
	}
	return list
}

func (r *rendering) partition(t, sep Text, right bool) Value {
	if sep.s == "" {
		throw("ValueError", "empty separator")
	}
	r.scan(len(t.s))
	i := strings.Index(t.s, sep.s)
	if right {
		i = strings.LastIndex(t.s, sep.s)
	}
	empty := Text{safe: t.safe}
	switch {
	case i >= 0:
		end := i + len(sep.s)
		return &tuple{items: []Value{r.part(t, 0, i), r.part(t, i, end), r.part(t, end, len(t.s))}}
	case right:
		return &tuple{items: []Value{empty, empty, t}}
	}
	return &tuple{items: []Value{t, empty, empty}}
}

// joinStrings is separator.join(all), which takes strings only.
func (r *rendering) joinStrings(separator Text, all Value) Value {
	b := builder{run: r, safe: separator.safe}
	for i, x := range r.items(all) {
		t, ok := x.(Text)
		switch {
		case !ok && separator.safe:
			t = r.str(x)
		case !ok:
			throw("TypeError", "sequence item %d: expected str instance, %s found", i, typeName(x))
		}
		if separator.safe {
			t = r.escape(t)
		}
		if i > 0 {
			b.add(separator)
		}
		b.add(t)
	}
	return b.text()
}
