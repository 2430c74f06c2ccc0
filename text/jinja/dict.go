package jinja

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
)

// Dict is a dict, whose keys have the order in which they came.
type Dict struct {
	keys, values []Value
	hashes       []any
	index        map[any]int // by hash; nil while there are few
}

// few is how many keys are looked through one by one.
const few = 8

// NewDict makes an empty dict.
func NewDict() *Dict { return &Dict{} }

// Set gives a key a value. It is not to be called once the dict was given to a
// rendering.
func (d *Dict) Set(key Text, v Value) { d.set(key, key.s, v) }

// Len is how many keys there are.
func (d *Dict) Len() int { return len(d.keys) }

// find is the value of the key with a hash; that of a string is the string.
func (d *Dict) find(hash any) (Value, bool) {
	if i := d.position(hash); i >= 0 {
		return d.values[i], true
	}
	return nil, false
}

func (d *Dict) position(hash any) int {
	if d.index != nil {
		if i, ok := d.index[hash]; ok {
			return i
		}
		return -1
	}
	return slices.Index(d.hashes, hash)
}

func (d *Dict) set(key Value, hash any, v Value) {
	if i := d.position(hash); i >= 0 {
		d.values[i] = v
		return
	}
	d.keys, d.values, d.hashes = append(d.keys, key), append(d.values, v), append(d.hashes, hash)
	switch {
	case d.index != nil:
		d.index[hash] = len(d.keys) - 1
	case len(d.keys) > few:
		d.index = make(map[any]int, 2*few)
		for i, h := range d.hashes {
			d.index[h] = i
		}
	}
}

// put is set for any key; those that cannot be one fail.
func (r *rendering) put(d *Dict, key, v Value) {
	r.take(valueSize * 4)
	d.set(key, r.hash(key), v)
}

// clone is a dict of its own with the same keys and values.
func (r *rendering) clone(d *Dict) *Dict {
	c := NewDict()
	r.takeTimes(d.Len(), valueSize*4)
	for i, k := range d.keys {
		r.scanHash(d.hashes[i])
		c.set(k, d.hashes[i], d.values[i])
	}
	return c
}

type (
	noneHash      struct{}
	undefinedHash struct{}
	bigHash       string
	tupleHash     string
)

// hash is what equal keys have in common. Lists and dicts cannot be keys.
func (r *rendering) hash(v Value) any {
	switch v := v.(type) {
	case nil:
		return noneHash{}
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case int64:
		return v
	case *big.Int:
		return bigHash(v.String())
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
		return v
	case Text:
		r.scan(len(v.s))
		return v.s
	case *tuple:
		return r.hashTuple(v)
	case *undefined:
		return undefinedHash{} // all are equal
	case *List, *Dict, *slice:
		throw("TypeError", "unhashable type: '%s'", typeName(v))
	}
	return v
}

func (r *rendering) hashTuple(t *tuple) any {
	r.enter()
	defer func() { r.depth-- }()
	var b strings.Builder
	for _, x := range t.items {
		h := r.hash(x)
		r.take(2*hashLen(h) + 2*valueSize)
		text := fmt.Sprintf("%T %v", h, h)
		fmt.Fprintf(&b, "%d:%s", len(text), text)
	}
	return tupleHash(b.String())
}

// hashLen is how many bytes there are to look at in a hash.
func hashLen(hash any) int {
	switch h := hash.(type) {
	case string:
		return len(h)
	case bigHash:
		return len(h)
	case tupleHash:
		return len(h)
	}
	return 0
}

// scanHash takes the steps for looking a hash up.
func (r *rendering) scanHash(hash any) { r.scan(hashLen(hash)) }
