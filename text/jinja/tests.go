package jinja

import (
	"math/big"
	"unicode"
)

// typeTests are the tests of what a value is.
func typeTests() methods {
	m := make(methods)
	for name, is := range map[string]func(r *rendering, v Value) bool{
		"boolean":   func(_ *rendering, v Value) bool { return typeName(v) == "bool" },
		"callable":  func(_ *rendering, v Value) bool { _, ok := v.(callable); return ok },
		"defined":   func(_ *rendering, v Value) bool { return !isUndefined(v) },
		"undefined": func(_ *rendering, v Value) bool { return isUndefined(v) },
		"escaped":   func(_ *rendering, v Value) bool { t, ok := v.(Text); return ok && t.safe },
		"false":     func(_ *rendering, v Value) bool { return v == false },
		"true":      func(_ *rendering, v Value) bool { return v == true },
		"float":     func(_ *rendering, v Value) bool { _, ok := v.(float64); return ok },
		"integer":   func(_ *rendering, v Value) bool { return typeName(v) == "int" },
		"mapping":   func(_ *rendering, v Value) bool { _, ok := v.(*Dict); return ok },
		"none":      func(_ *rendering, v Value) bool { return v == nil },
		"number":    func(_ *rendering, v Value) bool { return isNumber(v) },
		"string":    func(_ *rendering, v Value) bool { _, ok := v.(Text); return ok },
		"iterable":  func(_ *rendering, v Value) bool { return isIterable(v) },
		"sequence":  func(_ *rendering, v Value) bool { return isSequence(v) },
		"lower":     func(r *rendering, v Value) bool { return hasCaseOnly(r.seen(v), unicode.IsLower) },
		"upper":     func(r *rendering, v Value) bool { return hasCaseOnly(r.seen(v), unicode.IsUpper) },
		"filter":    func(r *rendering, v Value) bool { return filters[r.seen(v)] != nil },
		"test":      func(r *rendering, v Value) bool { return tests[r.seen(v)] != nil },
		"odd":       func(r *rendering, v Value) bool { return r.equal(r.binary("%", v, int64(2)), int64(1)) },
		"even":      func(r *rendering, v Value) bool { return r.equal(r.binary("%", v, int64(2)), int64(0)) },
	} {
		m[name] = &methodCode{sig(""), func(r *rendering, v Value, _ bound) Value { return is(r, v) }}
	}
	return m
}

// comparisonTests are those with another value.
func comparisonTests() methods {
	m := methods{
		"divisibleby": {sig("num"), func(r *rendering, v Value, a bound) Value {
			return r.equal(r.binary("%", v, a.vals[0]), int64(0))
		}},
		"sameas": {sig("other"), func(r *rendering, v Value, a bound) Value { return r.same(v, a.vals[0]) }},
		"in": {sig("seq"), func(r *rendering, v Value, a bound) Value {
			return r.contains(a.vals[0], v)
		}},
	}
	for name, op := range map[string]string{
		"==": "==", "eq": "==", "equalto": "==", "!=": "!=", "ne": "!=", ">": ">", "gt": ">", "greaterthan": ">",
		"ge": ">=", ">=": ">=", "<": "<", "lt": "<", "lessthan": "<", "<=": "<=", "le": "<=",
	} {
		m[name] = &methodCode{sig("/other"), func(r *rendering, v Value, a bound) Value { return r.holds(op, v, a.vals[0]) }}
	}
	return m
}

// seen is the text of a value, all of which is looked at.
func (r *rendering) seen(v Value) string {
	s := r.str(v).s
	r.scan(len(s))
	return s
}

func isUndefined(v Value) bool {
	_, ok := v.(*undefined)
	return ok
}

func isIterable(v Value) bool {
	switch v.(type) {
	case *List, *tuple, *Dict, *view, *generator, *span, Text, *loop, *undefined:
		return true
	}
	return false
}

// isSequence is what has a length and items by number or key.
func isSequence(v Value) bool {
	switch v.(type) {
	case *List, *tuple, *Dict, *span, Text, *undefined:
		return true
	}
	return false
}

// same is Python's is. Numbers and texts are the same if they are equal and of one type.
func (r *rendering) same(a, b Value) bool {
	switch x := a.(type) {
	case Text:
		y, ok := b.(Text)
		r.scan(min(len(x.s), len(y.s)))
		return ok && x.s == y.s && x.safe == y.safe
	case *big.Int:
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	}
	return a == b
}
