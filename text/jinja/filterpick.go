package jinja

import (
	"strconv"
	"strings"
)

// pickFilters are filters that take something out of values, or choose some of them.
func pickFilters() methods {
	m := methods{
		"map": {sig("* **"), func(r *rendering, v Value, a bound) Value {
			if !r.truth(v) {
				return lazily(nil)
			}
			items := r.items(v)
			return lazily(r.mapped(items, r.mapping(a)))
		}},
		"attr": {sig("name"), func(r *rendering, v Value, a bound) Value {
			name := r.str(a.vals[0]).s
			if x, ok := r.field(v, name); ok {
				return x
			}
			return missing(r, v, Text{s: name})
		}},
	}
	for name, wanted := range map[string]bool{"select": true, "reject": false} {
		m[name] = &methodCode{sig("* **"), func(r *rendering, v Value, a bound) Value {
			return r.choose(v, a, nil, wanted)
		}}
		m[name+"attr"] = &methodCode{sig("* **"), func(r *rendering, v Value, a bound) Value {
			if !r.truth(v) {
				return lazily(nil)
			}
			if len(a.rest) == 0 {
				throw("FilterArgumentError", "Missing parameter for attribute name")
			}
			get := r.getter(a.rest[0], absent{})
			a.rest = a.rest[1:]
			return r.choose(v, a, get, wanted)
		}}
	}
	or := &methodCode{sig("default_value? boolean?"), func(r *rendering, v Value, a bound) Value {
		if isUndefined(v) || a.flag(r, 1, false) && !r.truth(v) {
			return a.get(0, Text{})
		}
		return v
	}}
	m["default"], m["d"] = or, or
	return m
}

// getter reads an attribute such as "a.b.0" of a value. A default other than absent{}
// stands for what is undefined on the way.
func (r *rendering) getter(attribute, missing Value) func(Value) Value {
	var parts []Value
	switch a := attribute.(type) {
	case nil:
	case Text:
		r.takeTimes(strings.Count(a.s, ".")+1, textSize+2*valueSize)
		r.scan(len(a.s))
		for p := range strings.SplitSeq(a.s, ".") {
			if n, err := strconv.ParseInt(p, 10, 64); err == nil && strings.Trim(p, "0123456789") == "" {
				parts = append(parts, n)
			} else {
				parts = append(parts, Text{s: p})
			}
		}
	default:
		parts = []Value{a}
	}
	return func(v Value) Value {
		for _, p := range parts {
			v = r.item(v, p)
			if missing != (absent{}) && missing != nil && isUndefined(v) {
				v = missing
			}
		}
		return v
	}
}

// mapped are items after f.
func (r *rendering) mapped(items []Value, f func(Value) Value) []Value {
	r.takeTimes(len(items), valueSize)
	list := make([]Value, len(items))
	for i, x := range items {
		r.spend(1)
		list[i] = f(x)
	}
	return list
}

// mapping is what the arguments of map say: an attribute, or a filter.
func (r *rendering) mapping(a bound) func(Value) Value {
	if len(a.rest) == 0 {
		named := r.keywords(a.names, a.kw)
		attribute, ok := named.take("attribute")
		if !ok {
			throw("FilterArgumentError", "map requires a filter argument")
		}
		missing, ok := named.take("default")
		if !ok {
			missing = absent{}
		}
		if names, _ := named.left(); len(names) > 0 {
			throw("FilterArgumentError", "Unexpected keyword argument '%s'", names[0].s)
		}
		return r.getter(attribute, missing)
	}
	name := r.str(a.rest[0]).s
	if why, ok := refused[name]; ok {
		throwUnsupported("the filter '%s': %s", name, why)
	}
	call := arguments{pos: a.rest[1:], names: a.names, kw: a.kw}
	return func(v Value) Value { return r.filter(name, v, call) }
}

// choose are the items for which a test holds, or does not. Without a test they must
// count as true.
func (r *rendering) choose(v Value, a bound, get func(Value) Value, wanted bool) Value {
	if !r.truth(v) {
		return lazily(nil)
	}
	holds := r.truth
	if len(a.rest) > 0 {
		name := r.str(a.rest[0]).s
		call := arguments{pos: a.rest[1:], names: a.names, kw: a.kw}
		holds = func(v Value) bool { return r.test(name, v, call) }
	}
	var list []Value
	for _, x := range r.items(v) {
		r.spend(1)
		key := x
		if get != nil {
			key = get(x)
		}
		if holds(key) == wanted {
			r.take(valueSize)
			list = append(list, x)
		}
	}
	return lazily(list)
}
