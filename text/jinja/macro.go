package jinja

import "slices"

// macro is a macro, or the caller of a call block, as a value.
type macro struct {
	code    *macroCode
	scope   *scope // around it
	escapes bool
}

// macroSize is what one counts as with the scope that it keeps, in bytes.
const macroSize = 512

// field is an attribute of the macro.
func (m *macro) field(r *rendering, name string) (Value, bool) {
	switch name {
	case "name":
		return Text{s: m.code.name}, true
	case "arguments":
		r.takeTimes(len(m.code.params), textSize+valueSize)
		t := &tuple{}
		for _, p := range m.code.params {
			t.items = append(t.items, Text{s: p})
		}
		return t, true
	case "catch_varargs":
		return m.code.varargs, true
	case "catch_kwargs":
		return m.code.kwargs, true
	case "caller":
		return m.code.caller, true
	}
	return nil, false
}

// call gives what the macro prints.
func (m *macro) call(r *rendering, a arguments) Value {
	inner := &scope{parent: m.scope}
	m.bind(r, a, inner)
	line, escapes := r.line, r.escapes
	r.escapes = m.escapes
	text := r.captured(func() { r.body(m.code.body, inner) })
	r.line, r.escapes = line, escapes
	return text
}

// bind gives the parameters their values, as jinja2's Macro does.
func (m *macro) bind(r *rendering, a arguments, s *scope) {
	code := m.code
	given := min(len(a.pos), len(code.params))
	named := r.keywords(a.names, a.kw)
	r.takeTimes(len(code.params), nameSize)
	for i, p := range code.params {
		switch v, ok := named.take(p); {
		case i < given:
			if ok {
				throw("TypeError", "macro '%s' got multiple values for argument '%s'", code.name, p)
			}
			s.set(p, a.pos[i])
		case ok:
			s.set(p, v)
		case i >= len(code.params)-len(code.defaults):
			s.set(p, r.eval(code.defaults[i-len(code.params)+len(code.defaults)], s))
		default:
			r.count(undefinedSize)
			s.set(p, &undefined{message: "parameter '" + p + "' was not provided"})
		}
	}
	if code.caller {
		caller, ok := named.take("caller")
		if !ok || caller == nil {
			caller = &undefined{message: "No caller defined"}
		}
		s.set("caller", caller)
	}
	a.names, a.kw = named.left()
	m.bindRest(r, a, given, s)
}

// bindRest is about arguments that no parameter has.
func (m *macro) bindRest(r *rendering, a arguments, given int, s *scope) {
	code := m.code
	if code.kwargs {
		d := NewDict()
		for i, n := range a.names {
			r.put(d, n, a.kw[i])
		}
		s.set("kwargs", d)
	} else if len(a.names) > 0 {
		throw("TypeError", "macro '%s' takes no keyword argument '%s'", code.name, a.names[0].s)
	}
	if code.varargs {
		s.set("varargs", &tuple{items: a.pos[given:]})
	} else if len(a.pos) > given {
		throw("TypeError", "macro '%s' takes not more than %d argument(s)", code.name, len(code.params))
	}
}

// callWith calls what a call block names, its body being the caller.
func (r *rendering) callWith(b *callBlock, s *scope) Value {
	fn := r.eval(b.call.fn, s)
	a := r.arguments(b.call.args, s)
	r.count(macroSize)
	a.names = append(slices.Clip(a.names), Text{s: "caller"}) // they are the tree's
	a.kw = append(a.kw, &macro{code: b.code, scope: s, escapes: r.escapes})
	return r.call(fn, a)
}

// blocks is the variable self, whose attributes print blocks.
type blocks struct{ r *rendering }

func (b *blocks) field(name string) (Value, bool) {
	st := b.r.template.blocks[name]
	if st == nil {
		return nil, false
	}
	return &function{sig(""), func(r *rendering, _ bound) Value {
		return r.captured(func() { r.runBlock(st, r.root) })
	}}, true
}
