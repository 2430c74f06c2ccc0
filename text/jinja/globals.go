package jinja

import "strings"

// maxRange is how long a range is at most, as in jinja2's sandbox.
const maxRange = 100_000

// globalValues are the variables that are always there.
func globalValues() map[string]Value {
	unsupported := func(name, why string) Value {
		return &function{sig("* **"), func(*rendering, bound) Value {
			throwUnsupported("%s(): %s", name, why)
			return nil
		}}
	}
	return map[string]Value{
		"range":     &function{sig("/start /stop? /step?"), (*rendering).rangeOf},
		"dict":      &instance{kind: "TemplateDict", run: &function{sig("/pairs? **"), (*rendering).dictOf}, fields: methods{"fromkeys": {sig("/iterable /value?"), func(r *rendering, _ Value, a bound) Value { return r.fromKeys(a) }}}},
		"namespace": &function{sig("/pairs? **"), (*rendering).namespaceOf},
		"cycler":    &function{sig("*"), func(_ *rendering, a bound) Value { return newCycler(a.rest) }},
		"joiner":    &function{sig("sep?"), newJoiner},
		"lipsum":    unsupported("lipsum", "its result is not the same each time"),
		"raise_exception": &function{sig("message"), func(r *rendering, a bound) Value {
			throw("TemplateError", "%s", r.str(a.vals[0]).s)
			return nil
		}},
		"strftime_now": &function{sig("format"), func(r *rendering, a bound) Value {
			return r.strftime(a.text(r, 0))
		}},
	}
}

func (r *rendering) rangeOf(a bound) Value {
	bounds := [3]int64{0, 0, 1} // start, stop, step
	for i, v := range a.vals {
		if v == (absent{}) {
			continue
		}
		n, ok := small(v)
		if !ok {
			r.refuseUndefined(v)
			throw("TypeError", "'%s' object cannot be interpreted as an integer", typeName(v))
		}
		bounds[i] = n
	}
	if !a.has(1) {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	s := &span{bounds[0], bounds[1], bounds[2]}
	const most = 1 << 53 // so that no difference of two overflows
	switch {
	case s.step == 0:
		throw("ValueError", "range() arg 3 must not be zero")
	case max(s.start, s.stop, s.step) > most || min(s.start, s.stop, s.step) < -most || s.length() > maxRange:
		throw("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return s
}

func (r *rendering) dictOf(a bound) Value {
	d := NewDict()
	if pairs, ok := a.get(0, NewDict()).(*Dict); ok {
		d = r.clone(pairs)
	} else {
		for _, p := range r.items(a.vals[0]) {
			pair := r.items(p)
			if len(pair) != 2 {
				throw("ValueError", "dictionary update sequence element has length %d; 2 is required", len(pair))
			}
			r.put(d, pair[0], pair[1])
		}
	}
	for i, n := range a.names {
		r.put(d, n, a.kw[i])
	}
	return d
}

func (r *rendering) namespaceOf(a bound) Value {
	d := r.dictOf(a).(*Dict)
	for _, k := range d.keys {
		if name, ok := k.(Text); ok {
			checkField(name.s)
		}
	}
	return &namespace{d}
}

// checkField refuses a field of a namespace as Transformers does.
func checkField(name string) {
	if strings.HasPrefix(name, "_") {
		throw("SecurityError", "Chat templates cannot store underscore-prefixed attributes on a namespace, but got '%s'. Please rename the attribute.", name)
	}
}

// instance is an object with a few attributes.
type instance struct {
	kind   string
	fields methods
	value  func(name string) (Value, bool) // of the other attributes; nil: there are none
	run    *function                       // of a call; nil: it cannot be called
}

func (o *instance) field(name string) (Value, bool) {
	if o.value != nil {
		if v, ok := o.value(name); ok {
			return v, true
		}
	}
	return methodOf(o.fields, o, name)
}

func (o *instance) call(r *rendering, a arguments) Value {
	if o.run == nil {
		throw("TypeError", "'%s' object is not callable", o.kind)
	}
	return o.run.call(r, a)
}

func newCycler(items []Value) Value {
	if len(items) == 0 {
		throw("RuntimeError", "at least one item has to be provided")
	}
	at := 0
	return &instance{
		kind: "Cycler",
		value: func(name string) (Value, bool) {
			return items[at], name == "current"
		},
		fields: methods{
			"next": {sig(""), func(*rendering, Value, bound) Value {
				v := items[at]
				at = (at + 1) % len(items)
				return v
			}},
			"reset": {sig(""), func(*rendering, Value, bound) Value {
				at = 0
				return nil
			}},
		},
	}
}

func newJoiner(_ *rendering, a bound) Value {
	used := false
	return &instance{kind: "Joiner", run: &function{sig(""), func(*rendering, bound) Value {
		if !used {
			used = true
			return Text{}
		}
		return a.get(0, Text{s: ", "})
	}}}
}
