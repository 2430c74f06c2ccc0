package jinja

import "strings"

// callable is a value that can be called.
type callable interface {
	call(r *rendering, a arguments) Value
}

// arguments are the values of a call.
type arguments struct {
	pos   []Value
	names []Text // of kw
	kw    []Value
}

// call calls a value.
func (r *rendering) call(fn Value, a arguments) Value {
	r.enter()
	defer func() { r.depth-- }()
	switch f := fn.(type) {
	case callable:
		return f.call(r, a)
	case *undefined:
		f.fail(r)
	}
	throw("TypeError", "'%s' object is not callable", typeName(fn))
	return nil
}

// signature says which arguments a function of the language takes.
type signature struct {
	params   []string
	required int
	star     bool // any more of them
	starstar bool // any names
}

// sig reads a signature such as "old new count? *": count may be left out, and more may
// follow. An argument whose name begins with / cannot be given by it.
func sig(text string) signature {
	var s signature
	for _, p := range strings.Fields(text) {
		switch {
		case p == "*":
			s.star = true
		case p == "**":
			s.starstar = true
		case strings.HasSuffix(p, "?"):
			s.params = append(s.params, p[:len(p)-1])
		default:
			s.params = append(s.params, p)
			s.required = len(s.params)
		}
	}
	return s
}

// bound are arguments in the order of a signature.
type bound struct {
	name  string  // of the function
	vals  []Value // absent{}: not given
	rest  []Value // of *
	names []Text
	kw    []Value // of **
}

// absent stands for an argument that was not given.
type absent struct{}

func (r *rendering) bind(a arguments, name string, s signature) bound {
	b := bound{name: name, vals: make([]Value, len(s.params))}
	named := r.keywords(a.names, a.kw)
	for i, p := range s.params {
		v, ok := named.take(p)
		switch {
		case i < len(a.pos) && ok:
			throw("TypeError", "%s() got multiple values for argument '%s'", name, p)
		case i < len(a.pos):
			v = a.pos[i]
		case !ok && i < s.required:
			throw("TypeError", "%s() missing required argument '%s'", name, strings.TrimPrefix(p, "/"))
		case !ok:
			v = absent{}
		}
		b.vals[i] = v
	}
	if len(a.pos) > len(s.params) {
		if !s.star {
			throw("TypeError", "%s() takes at most %d arguments (%d given)", name, len(s.params), len(a.pos))
		}
		b.rest = a.pos[len(s.params):]
	}
	b.names, b.kw = named.left()
	if len(b.names) > 0 && !s.starstar {
		throw("TypeError", "%s() got an unexpected keyword argument '%s'", name, b.names[0].s)
	}
	return b
}

// has says whether an argument was given.
func (b bound) has(i int) bool { return b.vals[i] != absent{} }

// get is an argument, or what it is where it was not given.
func (b bound) get(i int, missing Value) Value {
	if b.has(i) {
		return b.vals[i]
	}
	return missing
}

// text is an argument that must be a string.
func (b bound) text(r *rendering, i int) Text {
	t, ok := b.vals[i].(Text)
	if !ok {
		r.refuseUndefined(b.vals[i])
		throw("TypeError", "%s() argument must be str, not %s", b.name, typeName(b.vals[i]))
	}
	return t
}

// textOr is text, but for one that was not given, or is None.
func (b bound) textOr(r *rendering, i int, missing string) Text {
	if !b.has(i) || b.vals[i] == nil {
		return Text{s: missing}
	}
	return b.text(r, i)
}

// number is an argument that must be a whole number. Those that are too large for what
// is left of any limit are all the same.
func (b bound) number(r *rendering, i, missing int) int {
	if !b.has(i) {
		return missing
	}
	const most = 1 << 40
	n, ok := integer(b.vals[i])
	if !ok {
		r.refuseUndefined(b.vals[i])
		throw("TypeError", "'%s' object cannot be interpreted as an integer", typeName(b.vals[i]))
	}
	if !n.IsInt64() {
		return most * n.Sign()
	}
	return int(max(min(n.Int64(), most), -most))
}

// flag is an argument that counts as true or not.
func (b bound) flag(r *rendering, i int, missing bool) bool {
	if !b.has(i) {
		return missing
	}
	return r.truth(b.vals[i])
}

// function is a function of the language.
type function struct {
	sig signature
	run func(r *rendering, a bound) Value
}

func (f *function) call(r *rendering, a arguments) Value {
	return f.run(r, r.bind(a, "function", f.sig))
}

// methods are those of a type, by name.
type methods map[string]*methodCode

type methodCode struct {
	sig signature
	run func(r *rendering, self Value, a bound) Value
}

// method is one of a value.
type method struct {
	self Value
	name string
	code *methodCode
}

func methodOf(m methods, self Value, name string) (Value, bool) {
	code := m[name]
	if code == nil {
		return nil, false
	}
	return &method{self, name, code}, true
}

func (m *method) call(r *rendering, a arguments) Value {
	return m.code.run(r, m.self, r.bind(a, m.name, m.code.sig))
}
