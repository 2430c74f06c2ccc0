package jinja

import (
	"math/big"
	"strings"
)

// attribute is v.name as jinja2's sandbox gives it: an attribute, else the item of that
// name, else undefined.
func (r *rendering) attribute(v Value, name string) Value {
	if x, ok := r.field(v, name); ok {
		return x
	}
	if d, ok := v.(*Dict); ok {
		if x, ok := d.find(name); ok {
			return x
		}
	}
	return missing(r, v, Text{s: name})
}

// field is an attribute in Python's own sense; false: there is none.
func (r *rendering) field(v Value, name string) (Value, bool) {
	r.scan(len(name))
	if mutators[typeName(v)][name] || strings.HasPrefix(name, "__") && dunder(name) {
		return &undefined{object: v, name: Text{s: name}, unsafe: true}, true
	}
	switch x := v.(type) {
	case Text:
		return methodOf(stringMethods, v, name)
	case *List:
		return methodOf(listMethods, v, name)
	case *tuple:
		for i, n := range x.names {
			if n == name {
				return x.items[i], true
			}
		}
		return methodOf(tupleMethods, v, name)
	case *Dict:
		return methodOf(dictMethods, v, name)
	case *namespace:
		return x.fields.find(name)
	case *loop:
		return x.field(r, name)
	case *macro:
		return x.field(r, name)
	case *blocks:
		return x.field(name)
	case *instance:
		return x.field(name)
	case *span:
		return x.field(name)
	case *undefined:
		x.fail(r)
	case bool, int64, *big.Int, float64:
		if numberAttributes[name] {
			throwUnsupported("the attribute '%s' of a number", name)
		}
	}
	return nil, false
}

// dunder says whether Python objects have an attribute of this name that the sandbox
// keeps; what other names with underscores lead to is undefined.
func dunder(name string) bool {
	switch name {
	case "__class__", "__init__", "__dict__", "__doc__", "__module__", "__eq__", "__ne__", "__hash__", "__str__", "__repr__",
		"__getattribute__", "__setattr__", "__delattr__", "__dir__", "__format__", "__reduce__", "__reduce_ex__", "__sizeof__",
		"__subclasshook__", "__init_subclass__", "__new__", "__len__", "__iter__", "__contains__", "__getitem__":
		return true
	}
	return false
}

// missing is the undefined that stands for an attribute or an item that is not there.
func missing(r *rendering, v, key Value) Value {
	if u, ok := v.(*undefined); ok {
		u.fail(r)
	}
	r.count(undefinedSize)
	return &undefined{object: v, name: key}
}

// item is v[key] as jinja2's sandbox gives it: an item, else the attribute of that
// name, else undefined.
func (r *rendering) item(v, key Value) Value {
	r.spend(1)
	if s, ok := key.(*slice); ok {
		if x, ok := r.sliced(v, s); ok {
			return x
		}
		return missing(r, v, Text{s: "slice"})
	}
	if x, ok := r.element(v, key); ok {
		return x
	}
	if name, ok := key.(Text); ok {
		if x, ok := r.field(v, name.s); ok {
			return x
		}
	}
	return missing(r, v, key)
}

// element is an item in Python's own sense; false: there is none.
func (r *rendering) element(v, key Value) (Value, bool) {
	if d, ok := v.(*Dict); ok {
		switch key.(type) {
		case *List, *Dict:
			return nil, false
		}
		return d.find(r.hash(key))
	}
	if l, ok := v.(*loop); ok {
		v = &List{l.items}
	}
	i, ok := small(key)
	if !ok {
		return nil, false
	}
	n, ok := r.length(v)
	if !ok {
		return nil, false
	}
	if i < 0 {
		i += int64(n)
	}
	if i < 0 || i >= int64(n) {
		return nil, false
	}
	return r.elementAt(v, int(i))
}

func (r *rendering) elementAt(v Value, i int) (Value, bool) {
	switch v := v.(type) {
	case *List:
		return v.items[i], true
	case *tuple:
		return v.items[i], true
	case *span:
		return v.at(i), true
	case Text:
		at := skip(v.s, 0, i)
		return r.part(v, at, skip(v.s, at, 1)), true
	}
	return nil, false
}
