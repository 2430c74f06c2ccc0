package jinja

import (
	"cmp"
	"math"
	"math/big"
	"strings"
)

// equal is Python's ==.
func (r *rendering) equal(a, b Value) bool {
	r.spend(1)
	switch x := a.(type) {
	case nil:
		return b == nil
	case Text:
		y, ok := b.(Text)
		if ok {
			r.scan(min(len(x.s), len(y.s)))
		}
		return ok && x.s == y.s
	case *List:
		y, ok := b.(*List)
		return ok && r.equalItems(x.items, y.items)
	case *tuple:
		y, ok := b.(*tuple)
		return ok && r.equalItems(x.items, y.items)
	case *Dict:
		y, ok := b.(*Dict)
		return ok && r.equalDicts(x, y)
	case *span:
		y, ok := b.(*span)
		return ok && equalSpans(x, y)
	case *undefined:
		_, ok := b.(*undefined)
		return ok
	}
	if isNumber(a) {
		return isNumber(b) && compareNumbers(a, b) == 0
	}
	return a == b
}

func equalSpans(x, y *span) bool {
	n := x.length()
	return n == y.length() && (n == 0 || x.start == y.start && (n == 1 || x.step == y.step))
}

func (r *rendering) equalItems(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	r.enter()
	defer func() { r.depth-- }()
	for i := range a {
		if !r.equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (r *rendering) equalDicts(a, b *Dict) bool {
	if a.Len() != b.Len() {
		return false
	}
	r.enter()
	defer func() { r.depth-- }()
	for i, h := range a.hashes {
		r.scanHash(h)
		v, ok := b.find(h)
		if !ok || !r.equal(a.values[i], v) {
			return false
		}
	}
	return true
}

// compareNumbers is -1, 0 or 1; 2 if one of them is no number at all (NaN).
func compareNumbers(a, b Value) int {
	if x, ok := small(a); ok {
		if y, ok := small(b); ok {
			return cmp.Compare(x, y)
		}
	}
	x, okX := integer(a)
	y, okY := integer(b)
	switch {
	case okX && okY:
		return x.Cmp(y)
	case okX:
		return compareToFloat(x, b.(float64))
	case okY:
		c := compareToFloat(y, a.(float64))
		if c == 2 {
			return 2
		}
		return -c
	}
	f, g := a.(float64), b.(float64)
	if math.IsNaN(f) || math.IsNaN(g) {
		return 2
	}
	return cmp.Compare(f, g)
}

func compareToFloat(x *big.Int, f float64) int {
	switch {
	case math.IsNaN(f):
		return 2
	case math.IsInf(f, 1):
		return -1
	case math.IsInf(f, -1):
		return 1
	}
	return new(big.Float).SetInt(x).Cmp(big.NewFloat(f))
}

// holds is whether a op b for an operator of comparisons.
func (r *rendering) holds(op string, a, b Value) bool {
	switch op {
	case "==":
		return r.equal(a, b)
	case "!=":
		return !r.equal(a, b)
	case "in":
		return r.contains(b, a)
	case "notin":
		return !r.contains(b, a)
	}
	c := r.order(op, a, b)
	switch op {
	case "<":
		return c == -1
	case "<=":
		return c == -1 || c == 0
	case ">":
		return c == 1
	}
	return c == 1 || c == 0
}

// order is -1, 0 or 1 as a comes before, with or behind b, and 2 where a number is
// none. Values without an order between them fail; op is what errors call it.
func (r *rendering) order(op string, a, b Value) int {
	r.spend(1)
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b)
	}
	r.refuseUndefined(a, b)
	switch x := a.(type) {
	case Text:
		if y, ok := b.(Text); ok {
			r.scan(min(len(x.s), len(y.s)))
			return strings.Compare(x.s, y.s)
		}
	case *List:
		if y, ok := b.(*List); ok {
			return r.orderItems(op, x.items, y.items)
		}
	case *tuple:
		if y, ok := b.(*tuple); ok {
			return r.orderItems(op, x.items, y.items)
		}
	}
	throw("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
	return 0
}

func (r *rendering) orderItems(op string, a, b []Value) int {
	r.enter()
	defer func() { r.depth-- }()
	for i := range min(len(a), len(b)) {
		if !r.equal(a[i], b[i]) {
			return r.order(op, a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// contains is Python's v in all.
func (r *rendering) contains(all, v Value) bool {
	switch all := all.(type) {
	case Text:
		part, ok := v.(Text)
		if !ok {
			r.refuseUndefined(v)
			throw("TypeError", "'in <string>' requires string as left operand, not %s", typeName(v))
		}
		r.scan(len(all.s))
		return strings.Contains(all.s, part.s)
	case *Dict:
		_, ok := all.find(r.hash(v))
		return ok
	case *view:
		if all.kind == "keys" {
			return r.contains(all.dict, v)
		}
	case *namespace, *macro, *blocks, *instance:
		throw("TypeError", "argument of type '%s' is not iterable", typeName(all))
	}
	if _, ok := itemCount(all); !ok {
		if _, ok := all.(*generator); !ok {
			throw("TypeError", "argument of type '%s' is not iterable", typeName(all))
		}
	}
	for _, x := range r.items(all) {
		if r.equal(x, v) {
			return true
		}
	}
	return false
}
