package jinja

import "strings"

// partMethods are methods of strings that look for others in them, or cut and replace.
func partMethods() methods {
	m := methods{
		"replace": {sig("/old /new count?"), func(r *rendering, self Value, a bound) Value {
			return r.replace(self.(Text), a.text(r, 0), a.text(r, 1), a.number(r, 2, -1))
		}},
		"count": {sig("/sub /start? /end?"), func(r *rendering, self Value, a bound) Value {
			part, sub := r.window(self.(Text), a), a.text(r, 0)
			r.scan(len(part.s))
			return int64(strings.Count(part.s, sub.s))
		}},
		"startswith": {sig("/prefix /start? /end?"), func(r *rendering, self Value, a bound) Value {
			return r.anyOf(self.(Text), a, strings.HasPrefix)
		}},
		"endswith": {sig("/suffix /start? /end?"), func(r *rendering, self Value, a bound) Value {
			return r.anyOf(self.(Text), a, strings.HasSuffix)
		}},
		"removeprefix": {sig("/prefix"), func(r *rendering, self Value, a bound) Value {
			t := self.(Text)
			if prefix := r.seen(a.text(r, 0)); strings.HasPrefix(t.s, prefix) {
				return r.part(t, len(prefix), len(t.s))
			}
			return t
		}},
		"removesuffix": {sig("/suffix"), func(r *rendering, self Value, a bound) Value {
			t := self.(Text)
			if suffix := r.seen(a.text(r, 0)); strings.HasSuffix(t.s, suffix) {
				return r.part(t, 0, len(t.s)-len(suffix))
			}
			return t
		}},
	}
	for name, sides := range map[string][2]bool{"strip": {true, true}, "lstrip": {true, false}, "rstrip": {false, true}} {
		m[name] = &methodCode{sig("/chars?"), func(r *rendering, self Value, a bound) Value {
			return r.strip(self.(Text), a.get(0, nil), sides[0], sides[1])
		}}
	}
	for name, find := range map[string]func(s, sub string) int{"find": strings.Index, "rfind": strings.LastIndex} {
		m[name] = &methodCode{sig("/sub /start? /end?"), func(r *rendering, self Value, a bound) Value {
			return r.find(self.(Text), a, find)
		}}
		m[strings.Replace(name, "find", "index", 1)] = &methodCode{sig("/sub /start? /end?"), func(r *rendering, self Value, a bound) Value {
			at := r.find(self.(Text), a, find)
			if at == int64(-1) {
				throw("ValueError", "substring not found")
			}
			return at
		}}
	}
	return m
}

// window is the part of a text that a search is limited to by its second and third
// argument.
func (r *rendering) window(t Text, a bound) Text {
	if !a.has(1) && !a.has(2) {
		return t
	}
	part, _ := r.sliced(t, &slice{start: a.get(1, nil), stop: a.get(2, nil)})
	return part.(Text)
}

// find is where a text has another one, in code points; -1: nowhere.
func (r *rendering) find(t Text, a bound, search func(s, sub string) int) Value {
	part, sub := r.window(t, a), a.text(r, 0)
	r.scan(len(part.s))
	i := search(part.s, sub.s)
	if i < 0 {
		return int64(-1)
	}
	before := r.runes(Text{s: part.s[:i]})
	if a.has(1) && a.vals[1] != nil {
		first, _, _ := (&slice{start: a.vals[1]}).bounds(r.runes(t))
		before += first
	}
	return int64(before)
}

// anyOf says whether has holds for the argument, or for one of them in a tuple.
func (r *rendering) anyOf(t Text, a bound, has func(s, part string) bool) Value {
	part := r.window(t, a)
	list, ok := a.vals[0].(*tuple)
	if !ok {
		list = &tuple{items: []Value{a.text(r, 0)}}
	}
	for _, x := range list.items {
		text, ok := x.(Text)
		if !ok {
			throw("TypeError", "tuple for %s must only contain str, not %s", a.name, typeName(x))
		}
		r.scan(len(text.s))
		if has(part.s, text.s) {
			return true
		}
	}
	return false
}

// strip cuts characters off the sides of a text: white space, or those of a string.
func (r *rendering) strip(t Text, chars Value, left, right bool) Text {
	cut := isSpace
	switch c := chars.(type) {
	case nil:
	case Text:
		r.scan(len(t.s) * (1 + min(len(c.s), 64)))
		cut = func(x rune) bool { return strings.ContainsRune(c.s, x) }
	default:
		r.refuseUndefined(chars)
		throw("TypeError", "strip arg must be None or str, not %s", typeName(chars))
	}
	r.scan(len(t.s))
	from, to := 0, len(t.s)
	if left {
		from = to - len(strings.TrimLeftFunc(t.s, cut))
	}
	if right {
		to = from + len(strings.TrimRightFunc(t.s[from:], cut))
	}
	return r.part(t, from, to)
}

// replace is t with the first count of old, or all with a negative count, replaced. A
// safe text escapes what it takes in.
func (r *rendering) replace(t, old, new Text, count int) Text {
	if t.safe {
		new = r.escape(new)
	}
	r.scan(len(t.s))
	if count < 0 {
		count = len(t.s) + 1
	}
	b := builder{run: r, safe: t.safe}
	at := 0
	for i := 0; count > 0; count-- {
		k := strings.Index(t.s[i:], old.s)
		if k < 0 {
			break
		}
		b.addPart(t, at, i+k)
		b.add(new)
		at = i + k + len(old.s)
		i = at
		if old.s == "" { // between all characters, and at both ends
			if i == len(t.s) {
				break
			}
			i += runeLen(t.s[i:])
		}
	}
	b.addPart(t, at, len(t.s))
	return b.text()
}
