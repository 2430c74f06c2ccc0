package jinja

import (
	"math/big"
)

// Value is what a template computes with: nil (None), bool, int64, *big.Int (only
// what is no int64), float64, Text, *List, *Dict, and what only templates make:
// tuples, ranges, macros and so on. Values are read only once they are made.
type Value any

// List is a list. Its items are not changed.
type List struct{ items []Value }

// NewList makes a list of items, which it keeps.
func NewList(items []Value) *List { return &List{items} }

// tuple is one of Python's, with names for its items where groupby made it.
type tuple struct {
	items []Value
	names []string
}

// generator is what Python computes while it is read: it can be read once.
type generator struct {
	items []Value
	kind  string // as errors call it
}

// rest is what was not read yet; nothing is left then.
func (g *generator) rest() []Value {
	items := g.items
	g.items = nil
	return items
}

// span is Python's range.
type span struct{ start, stop, step int64 }

// length is at most maxRange, which makes it sure.
func (s *span) length() int {
	switch {
	case s.step > 0 && s.start < s.stop:
		return int((s.stop-s.start-1)/s.step) + 1
	case s.step < 0 && s.start > s.stop:
		return int((s.start-s.stop-1)/-s.step) + 1
	}
	return 0
}

func (s *span) at(i int) int64 { return s.start + int64(i)*s.step }

// view is what keys, values and items of a dict give.
type view struct {
	dict *Dict
	kind string // "keys", "values" or "items"
}

// namespace is what a template may assign to.
type namespace struct{ fields *Dict }

// undefined is a name, an attribute or an item that is not there. It prints as nothing,
// and using it otherwise fails.
type undefined struct {
	message string // what it says then; "": of the object and the name below
	object  Value
	name    Value
	unsafe  bool // it is there, but the sandbox keeps it
}

// undefinedSize is what one counts as, in bytes.
const undefinedSize = 64

func undefinedName(name string) *undefined {
	return &undefined{message: "'" + name + "' is undefined"}
}

// fail is what happens when u is used.
func (u *undefined) fail(r *rendering) {
	switch {
	case u.unsafe:
		throw("SecurityError", "access to attribute '%s' of '%s' object is unsafe.", r.str(u.name).s, typeName(u.object))
	case u.message != "":
		throw("UndefinedError", "%s", u.message)
	}
	if name, ok := u.name.(Text); ok {
		throw("UndefinedError", "'%s' has no attribute '%s'", objectName(u.object), name.s)
	}
	throw("UndefinedError", "%s has no element %s", objectName(u.object), r.repr(u.name).s)
}

func objectName(v Value) string {
	if v == nil {
		return "None"
	}
	return typeName(v) + " object"
}

// typeName is how Python calls the type of v.
func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case Text:
		if v.safe {
			return "Markup"
		}
		return "str"
	case *List:
		return "list"
	case *tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *view:
		return "dict_" + v.kind
	case *span:
		return "range"
	case *generator:
		return v.kind
	case *undefined:
		return "Undefined"
	case *namespace:
		return "Namespace"
	case *macro:
		return "Macro"
	case *loop:
		return "LoopContext"
	case *blocks:
		return "TemplateReference"
	case *slice:
		return "slice"
	case *instance:
		return v.kind
	}
	return "builtin_function_or_method"
}

// truth is whether v counts as true.
func truth(v Value) bool {
	switch v := v.(type) {
	case nil, *undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case Text:
		return v.s != ""
	}
	if n, ok := itemCount(v); ok {
		return n > 0
	}
	return true
}

// length is what len() gives; false: v has none.
func (r *rendering) length(v Value) (int, bool) {
	if t, ok := v.(Text); ok {
		return r.runes(t), true
	}
	return itemCount(v)
}

// itemCount is the length of what is no text.
func itemCount(v Value) (int, bool) {
	switch v := v.(type) {
	case *List:
		return len(v.items), true
	case *tuple:
		return len(v.items), true
	case *Dict:
		return v.Len(), true
	case *view:
		return v.dict.Len(), true
	case *span:
		return v.length(), true
	case *loop:
		return len(v.items), true
	case *undefined:
		return 0, true
	}
	return 0, false
}
