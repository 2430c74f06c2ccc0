package jinja

import "slices"

// namedSize is what a keyword argument counts as, in bytes.
const namedSize = textSize + valueSize

// keywords are the named arguments of a call while parameters take theirs.
type keywords struct {
	names []Text
	kw    []Value
	at    map[string]int // where each name is; nil while there are few
	taken map[int]bool
}

// keywords are names and their values. Of a name that is there twice the first is taken.
func (r *rendering) keywords(names []Text, kw []Value) keywords {
	k := keywords{names: names, kw: kw}
	if len(names) <= few {
		return k
	}
	r.takeTimes(len(names), 3*valueSize)
	k.at = make(map[string]int, len(names))
	for i, n := range names {
		r.scan(len(n.s))
		if _, ok := k.at[n.s]; !ok {
			k.at[n.s] = i
		}
	}
	return k
}

// place is where a name is; -1: nowhere.
func (k *keywords) place(name string) int {
	if k.at == nil {
		return slices.IndexFunc(k.names, func(n Text) bool { return n.s == name })
	}
	if i, ok := k.at[name]; ok {
		return i
	}
	return -1
}

// find is the value of a name; false: there is none.
func (k *keywords) find(name string) (Value, bool) {
	if i := k.place(name); i >= 0 {
		return k.kw[i], true
	}
	return nil, false
}

// take is find, after which the name is not left.
func (k *keywords) take(name string) (Value, bool) {
	i := k.place(name)
	if i < 0 {
		return nil, false
	}
	if k.taken == nil {
		k.taken = make(map[int]bool)
	}
	k.taken[i] = true
	return k.kw[i], true
}

// left are the names, with their values, that were not taken.
func (k *keywords) left() (names []Text, kw []Value) {
	if len(k.taken) == 0 {
		return k.names, k.kw
	}
	for i, n := range k.names {
		if !k.taken[i] {
			names, kw = append(names, n), append(kw, k.kw[i])
		}
	}
	return names, kw
}
