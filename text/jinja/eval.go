package jinja

import "slices"

// eval is the value of an expression.
func (r *rendering) eval(x expr, s *scope) Value {
	r.spend(1)
	switch x := x.(type) {
	case *literal:
		return x.value
	case *nameExpr:
		return r.lookup(x.name, s)
	}
	r.enter()
	v := r.compound(x, s)
	r.depth--
	return v
}

// compound is eval for what has parts.
func (r *rendering) compound(x expr, s *scope) Value {
	switch x := x.(type) {
	case *attrExpr:
		return r.attribute(r.eval(x.x, s), x.name)
	case *itemExpr:
		return r.item(r.eval(x.x, s), r.eval(x.key, s))
	case *callExpr:
		return r.call(r.eval(x.fn, s), r.arguments(x.args, s))
	case *filterExpr:
		return r.applyFilter(x, r.eval(x.x, s), s)
	case *testExpr:
		return r.applyTest(x, s)
	case *compareExpr:
		return r.comparison(x, s)
	case *condExpr:
		return r.conditional(x, s)
	case *andExpr:
		if v := r.eval(x.left, s); !r.truth(v) {
			return v
		}
		return r.eval(x.right, s)
	case *orExpr:
		if v := r.eval(x.left, s); r.truth(v) {
			return v
		}
		return r.eval(x.right, s)
	case *notExpr:
		return !r.truth(r.eval(x.x, s))
	case *binaryExpr:
		return r.binary(x.op, r.eval(x.left, s), r.eval(x.right, s))
	case *concatExpr:
		return r.concatenation(x, s)
	case *signExpr:
		return r.signed(x.minus, r.eval(x.x, s))
	}
	return r.collection(x, s)
}

// collection is the value of what is written with brackets.
func (r *rendering) collection(x expr, s *scope) Value {
	switch x := x.(type) {
	case *listExpr:
		return &List{r.evalAll(x.items, s)}
	case *tupleExpr:
		return &tuple{items: r.evalAll(x.items, s)}
	case *dictExpr:
		d := NewDict()
		for i, k := range x.keys {
			key := r.eval(k, s)
			r.put(d, key, r.eval(x.values[i], s))
		}
		return d
	case *sliceExpr:
		part := &slice{}
		for _, p := range []struct {
			x expr
			v *Value
		}{{x.start, &part.start}, {x.stop, &part.stop}, {x.step, &part.step}} {
			if p.x != nil {
				*p.v = r.eval(p.x, s)
			}
		}
		return part
	}
	throwUnsupported("an expression of the kind %T", x)
	return nil
}

func (r *rendering) evalAll(list []expr, s *scope) []Value {
	if len(list) == 0 {
		return nil
	}
	r.takeTimes(len(list), valueSize)
	values := make([]Value, len(list))
	for i, x := range list {
		values[i] = r.eval(x, s)
	}
	return values
}

// comparison is a chain such as 1 < x < 3.
func (r *rendering) comparison(x *compareExpr, s *scope) Value {
	left := r.eval(x.first, s)
	for _, o := range x.ops {
		right := r.eval(o.x, s)
		if !r.holds(o.op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (r *rendering) conditional(x *condExpr, s *scope) Value {
	switch {
	case r.truth(r.eval(x.test, s)):
		return r.eval(x.then, s)
	case x.otherwise != nil:
		return r.eval(x.otherwise, s)
	}
	return &undefined{message: "the inline if-expression evaluated to false and no else section was defined."}
}

// concatenation is a ~ b: texts one after the other. Where escaping is on and one of
// them is safe, the others are escaped.
func (r *rendering) concatenation(x *concatExpr, s *scope) Value {
	parts := make([]Text, len(x.parts))
	safe := false
	for i, p := range x.parts {
		parts[i] = r.soft(r.eval(p, s))
		safe = safe || parts[i].safe
	}
	safe = safe && r.escapes
	for i := range parts {
		if safe {
			parts[i] = r.escape(parts[i])
		}
	}
	t := r.concat(parts...)
	t.safe = safe
	return t
}

func (r *rendering) signed(minus bool, v Value) Value {
	r.refuseUndefined(v)
	if f, ok := v.(float64); ok && minus {
		return -f
	}
	if !isNumber(v) {
		sign := "+"
		if minus {
			sign = "-"
		}
		throw("TypeError", "bad operand type for unary %s: '%s'", sign, typeName(v))
	}
	if minus {
		sum, _ := r.arithmetic("-", int64(0), v)
		return sum
	}
	sum, _ := r.arithmetic("+", int64(0), v)
	return sum
}

// arguments are the values of the arguments of a call.
func (r *rendering) arguments(args callArgs, s *scope) arguments {
	a := arguments{pos: r.evalAll(args.pos, s), names: args.names, kw: r.evalAll(args.kw, s)}
	if args.star != nil {
		a.pos = r.chain(a.pos, r.items(r.eval(args.star, s)))
	}
	if args.starstar == nil {
		return a
	}
	d, ok := r.eval(args.starstar, s).(*Dict)
	if !ok {
		throw("TypeError", "argument after ** must be a mapping")
	}
	r.takeTimes(d.Len()+len(a.names), namedSize)
	a.names, a.kw = slices.Clip(a.names), slices.Clip(a.kw)
	for i, k := range d.keys {
		name, ok := k.(Text)
		if !ok {
			throw("TypeError", "keywords must be strings")
		}
		a.names, a.kw = append(a.names, name), append(a.kw, d.values[i])
	}
	return a
}

// applyFilter is x | filter.
func (r *rendering) applyFilter(f *filterExpr, v Value, s *scope) Value {
	return r.filter(f.name, v, r.arguments(f.args, s))
}

// filter calls one by its name.
func (r *rendering) filter(name string, v Value, a arguments) Value {
	f := filters[name]
	if f == nil {
		throw("TemplateRuntimeError", "No filter named '%s' found.", name)
	}
	return f.run(r, v, r.bind(a, name, f.sig))
}

// applyTest is x is test.
func (r *rendering) applyTest(t *testExpr, s *scope) Value {
	v := r.eval(t.x, s)
	return r.test(t.name, v, r.arguments(t.args, s))
}

// test calls one by its name.
func (r *rendering) test(name string, v Value, a arguments) bool {
	t := tests[name]
	if t == nil {
		throw("TemplateRuntimeError", "No test named '%s' found.", name)
	}
	return r.truth(t.run(r, v, r.bind(a, name, t.sig)))
}
