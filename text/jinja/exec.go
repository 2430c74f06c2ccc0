package jinja

// signal is how a body ended.
type signal uint8

const (
	atEnd signal = iota
	broke
	continued
)

// body runs statements one after the other.
func (r *rendering) body(body []stmt, s *scope) signal {
	r.enter()
	for _, st := range body {
		if sig := r.statement(st, s); sig != atEnd {
			r.depth--
			return sig
		}
	}
	r.depth--
	return atEnd
}

func (r *rendering) statement(st stmt, s *scope) signal {
	r.spend(1)
	switch st := st.(type) {
	case *outputStmt:
		r.line = st.line
		for _, x := range st.parts {
			r.print(r.eval(x, s))
		}
	case *ifStmt:
		r.line = st.line
		return r.ifBody(st, s)
	case *forStmt:
		r.line = st.line
		r.forLoop(st, s)
	case *setStmt:
		r.line = st.line
		r.assign(st.target, r.eval(st.value, s), s)
	case *breakStmt:
		return broke
	case *continueStmt:
		return continued
	case *macroStmt:
		r.count(macroSize)
		s.set(st.name, &macro{code: st.code, scope: s, escapes: r.escapes})
	default:
		return r.block(st, s)
	}
	return atEnd
}

// block runs the statements that have a scope of their own.
func (r *rendering) block(st stmt, s *scope) signal {
	inner := &scope{parent: s}
	switch st := st.(type) {
	case *setBlock:
		r.line = st.line
		text := r.captured(func() { r.body(st.body, inner) })
		r.assign(st.target, r.filtered(st.filter, text, s), s)
	case *filterBlock:
		r.line = st.line
		text := r.captured(func() { r.body(st.body, inner) })
		r.print(r.filtered(st.filter, text, s))
	case *withStmt:
		r.line = st.line
		values := r.evalAll(st.values, s)
		for i, t := range st.targets {
			r.assign(t, values[i], inner)
		}
		return r.body(st.body, inner)
	case *callBlock:
		r.line = st.line
		r.print(r.callWith(st, s))
	case *autoescapeStmt:
		escapes := r.escapes
		r.escapes = truth(r.eval(st.on, s))
		sig := r.body(st.body, inner)
		r.escapes = escapes
		return sig
	case *blockStmt:
		r.runBlock(st, s)
	case *generationStmt:
		r.body(st.body, inner)
	}
	return atEnd
}

// runBlock prints a block, which sees what is set outside of all others; one that is
// scoped sees what is set around it too.
func (r *rendering) runBlock(b *blockStmt, s *scope) {
	if !b.scoped {
		s = r.root
	}
	r.body(b.body, &scope{parent: s})
}

func (r *rendering) ifBody(st *ifStmt, s *scope) signal {
	for i := range st.arms {
		if r.truth(r.eval(st.arms[i].test, s)) {
			return r.body(st.arms[i].body, s)
		}
	}
	return r.body(st.otherwise, s)
}

// truth is truth but for what the sandbox keeps, which fails.
func (r *rendering) truth(v Value) bool {
	if u, ok := v.(*undefined); ok && u.unsafe {
		u.fail(r)
	}
	return truth(v)
}

// print writes a value to the output.
func (r *rendering) print(v Value) {
	if r.escapes {
		r.out.add(r.escape(r.soft(v)))
		return
	}
	r.out.add(r.str(v))
}

// filtered is a text behind the filters of a statement; nil: there are none.
func (r *rendering) filtered(f *filterExpr, text Text, s *scope) Value {
	if f == nil {
		return text
	}
	var v Value = text
	if inner, ok := f.x.(*filterExpr); ok {
		v = r.filtered(inner, text, s)
	}
	return r.applyFilter(f, v, s)
}

// assign gives names a value.
func (r *rendering) assign(target expr, v Value, s *scope) {
	switch t := target.(type) {
	case *nameExpr:
		r.count(nameSize)
		s.set(t.name, v)
	case *nsRef:
		ns, ok := r.lookup(t.name, s).(*namespace)
		if !ok {
			throw("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
		}
		checkField(t.attr)
		r.put(ns.fields, Text{s: t.attr}, v)
	case *tupleExpr:
		items := r.items(v)
		switch want := len(t.items); {
		case len(items) < want:
			throw("ValueError", "not enough values to unpack (expected %d, got %d)", want, len(items))
		case len(items) > want:
			throw("ValueError", "too many values to unpack (expected %d)", want)
		}
		for i, x := range t.items {
			r.assign(x, items[i], s)
		}
	}
}
