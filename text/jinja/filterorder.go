package jinja

import (
	"slices"
	"strings"
)

// orderFilters are filters that compare items with each other.
func orderFilters() methods {
	m := methods{
		"sort": {sig("reverse? case_sensitive? attribute?"), func(r *rendering, v Value, a bound) Value {
			return &List{r.sorted(r.items(v), r.sortKey(a.get(2, nil), a.flag(r, 1, false)), a.flag(r, 0, false))}
		}},
		"dictsort": {sig("case_sensitive? by? reverse?"), func(r *rendering, v Value, a bound) Value {
			return r.sortedDict(v, a)
		}},
		"unique": {sig("case_sensitive? attribute?"), func(r *rendering, v Value, a bound) Value {
			return r.unique(r.items(v), r.keyOf(a.get(1, nil), absent{}, a.flag(r, 0, false)))
		}},
		"groupby": {sig("attribute default? case_sensitive?"), func(r *rendering, v Value, a bound) Value {
			return r.groups(r.items(v), a)
		}},
		"sum": {sig("attribute? start?"), func(r *rendering, v Value, a bound) Value {
			return r.sum(r.items(v), a)
		}},
	}
	for name, sign := range map[string]int{"min": -1, "max": 1} {
		m[name] = &methodCode{sig("case_sensitive? attribute?"), func(r *rendering, v Value, a bound) Value {
			return r.extreme(r.items(v), r.keyOf(a.get(1, nil), absent{}, a.flag(r, 0, false)), sign)
		}}
	}
	return m
}

// keyOf is what items are compared by: an attribute, with the case of letters or
// without.
func (r *rendering) keyOf(attribute, missing Value, caseSensitive bool) func(Value) Value {
	get := r.getter(attribute, missing)
	return func(v Value) Value {
		r.spend(1)
		v = get(v)
		if t, ok := v.(Text); ok && !caseSensitive {
			return r.changeCase(t, caseChanges["lower"])
		}
		return v
	}
}

// keySize is what one of the attributes to sort by counts as, in bytes: its name, and
// the functions that read it.
const keySize = 256

// sortKey is keyOf for any number of attributes with commas between them.
func (r *rendering) sortKey(attribute Value, caseSensitive bool) func(Value) Value {
	attributes := []Value{attribute}
	if t, ok := attribute.(Text); ok {
		r.takeTimes(strings.Count(t.s, ",")+1, keySize)
		attributes = nil
		for name := range strings.SplitSeq(t.s, ",") {
			attributes = append(attributes, Text{s: name})
		}
	}
	gets := make([]func(Value) Value, len(attributes))
	for i, a := range attributes {
		gets[i] = r.keyOf(a, absent{}, caseSensitive)
	}
	return func(v Value) Value {
		r.takeTimes(len(gets), valueSize)
		key := &tuple{items: make([]Value, len(gets))}
		for i, get := range gets {
			key.items[i] = get(v)
		}
		return key
	}
}

// sorted are items in the order of their keys; equal ones stay as they are.
func (r *rendering) sorted(items []Value, key func(Value) Value, reverse bool) []Value {
	type keyed struct{ key, item Value }
	r.takeTimes(len(items), 3*valueSize)
	list := make([]keyed, len(items))
	for i, x := range items {
		list[i] = keyed{key(x), x}
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		c := r.order("<", a.key, b.key)
		if c == 2 { // a NaN is where it is
			return 0
		}
		if reverse {
			return -c
		}
		return c
	})
	out := make([]Value, len(list))
	for i, k := range list {
		out[i] = k.item
	}
	return out
}

func (r *rendering) sortedDict(v Value, a bound) Value {
	d, ok := v.(*Dict)
	if !ok {
		r.refuseUndefined(v)
		throw("AttributeError", "'%s' object has no attribute 'items'", typeName(v))
	}
	by := a.textOr(r, 1, "key").s
	if by != "key" && by != "value" {
		throw("FilterArgumentError", `You can only sort by either "key" or "value"`)
	}
	at := int64(0)
	if by == "value" {
		at = 1
	}
	return &List{r.sorted(r.viewItems(&view{d, "items"}), r.keyOf(at, absent{}, a.flag(r, 0, false)), a.flag(r, 2, false))}
}

func (r *rendering) unique(items []Value, key func(Value) Value) Value {
	seen := make(map[any]bool)
	var list []Value
	for _, x := range items {
		r.take(4 * valueSize)
		if h := r.hash(key(x)); !seen[h] {
			seen[h] = true
			list = append(list, x)
		}
	}
	return lazily(list)
}

// groups are tuples of a key and the items that have it, in the order of the keys.
func (r *rendering) groups(items []Value, a bound) Value {
	caseSensitive := a.flag(r, 2, false)
	key := r.keyOf(a.vals[0], a.get(1, absent{}), caseSensitive)
	shown := r.getter(a.vals[0], a.get(1, absent{}))
	var list []Value
	var members []Value
	var last Value
	for _, x := range r.sorted(items, key, false) {
		k := key(x)
		if len(list) == 0 || !r.equal(k, last) {
			members, last = nil, k
			list = append(list, nil)
		}
		r.take(4 * valueSize)
		members = append(members, x)
		list[len(list)-1] = &tuple{[]Value{shown(members[0]), &List{members}}, []string{"grouper", "list"}}
	}
	return &List{list}
}

func (r *rendering) sum(items []Value, a bound) Value {
	get := r.getter(a.get(0, nil), absent{})
	total := a.get(1, int64(0))
	if _, ok := total.(Text); ok {
		throw("TypeError", "sum() can't sum strings [use ''.join(seq) instead]")
	}
	for _, x := range items {
		total = r.binary("+", total, get(x))
	}
	return total
}

// extreme is the first of the smallest or largest items.
func (r *rendering) extreme(items []Value, key func(Value) Value, sign int) Value {
	if len(items) == 0 {
		return &undefined{message: "No aggregated item, sequence was empty."}
	}
	best, bestKey := items[0], key(items[0])
	op := "<"
	if sign > 0 {
		op = ">"
	}
	for _, x := range items[1:] {
		if k := key(x); r.order(op, k, bestKey) == sign {
			best, bestKey = x, k
		}
	}
	return best
}
