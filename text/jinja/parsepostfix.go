package jinja

import "strings"

// postfix reads the attributes, subscripts and calls behind an expression.
func (p *parser) postfix(x expr) expr {
	for {
		switch t := p.current(); {
		case t.is("."):
			p.next()
			x = p.attribute(x)
		case t.is("["):
			p.next()
			x = p.subscript(x)
		case t.is("("):
			x = &callExpr{x, p.arguments()}
		default:
			return x
		}
	}
}

func (p *parser) attribute(x expr) expr {
	t := p.next()
	switch t.kind {
	case kName:
		return &attrExpr{x, t.text}
	case kInteger:
		return &itemExpr{x, &literal{numberValue(t)}}
	}
	throwSyntax(t.line, "expected name or number")
	return nil
}

func (p *parser) subscript(x expr) expr {
	var keys []expr
	for !p.current().is("]") {
		if len(keys) > 0 {
			p.expectOperator(",")
		}
		keys = append(keys, p.key())
	}
	p.expectOperator("]")
	if len(keys) == 1 {
		return &itemExpr{x, keys[0]}
	}
	return &itemExpr{x, &tupleExpr{keys}}
}

// key reads one of a subscript: an expression or a slice.
func (p *parser) key() expr {
	s := &sliceExpr{}
	if !p.current().is(":") {
		s.start = p.expression()
		if !p.current().is(":") {
			return s.start
		}
	}
	p.next()
	ends := func() bool { return p.current().is("]") || p.current().is(",") || p.current().is(":") }
	if !ends() {
		s.stop = p.expression()
	}
	if p.skipOperator(":") && !ends() {
		s.step = p.expression()
	}
	return s
}

// filterOrTest reads the filters, tests and calls behind an expression.
func (p *parser) filterOrTest(x expr) expr {
	for {
		switch t := p.current(); {
		case t.is("|"):
			x = p.filters(x)
		case t.named("is"):
			x = p.test(x)
		case t.is("("):
			x = &callExpr{x, p.arguments()}
		default:
			return x
		}
	}
}

// filters reads any number of them, each behind a bar.
func (p *parser) filters(x expr) expr {
	for p.skipOperator("|") {
		x = p.filter(x)
	}
	return x
}

// filter reads the name and the arguments of one.
func (p *parser) filter(x expr) expr {
	f := &filterExpr{x: x, line: p.current().line}
	f.name = p.dotted()
	if p.current().is("(") {
		f.args = p.arguments()
	}
	return f
}

func (p *parser) dotted() string {
	parts := []string{p.expectName()}
	for p.skipOperator(".") {
		parts = append(parts, p.expectName())
	}
	return strings.Join(parts, ".")
}

func (p *parser) test(x expr) expr {
	p.next()
	negated := p.skipName("not")
	t := &testExpr{x: x, line: p.current().line}
	t.name = p.dotted()
	if p.current().is("(") {
		t.args = p.arguments()
	} else if p.argumentFollows() {
		if p.current().named("is") {
			p.fail("You cannot chain multiple tests with is")
		}
		t.args.pos = []expr{p.postfix(p.primary(false))}
	}
	if negated {
		return &notExpr{t}
	}
	return t
}

// argumentFollows says whether a test is given an argument without parentheses.
func (p *parser) argumentFollows() bool {
	switch t := p.current(); t.kind {
	case kName:
		return t.text != "else" && t.text != "or" && t.text != "and"
	case kString, kInteger, kFloat:
		return true
	default:
		return t.is("[") || t.is("{")
	}
}

// arguments reads those of a call, with their parentheses.
func (p *parser) arguments() callArgs {
	p.enter()
	defer func() { p.depth-- }()
	p.expectOperator("(")
	var a callArgs
	allow := func(is bool) {
		if !is {
			p.fail("invalid syntax for function call expression")
		}
	}
	for first := true; !p.current().is(")"); first = false {
		if !first {
			p.expectOperator(",")
			if p.current().is(")") {
				break
			}
		}
		switch {
		case p.skipOperator("*"):
			allow(a.star == nil && a.starstar == nil)
			a.star = p.expression()
		case p.skipOperator("**"):
			allow(a.starstar == nil)
			a.starstar = p.expression()
		case p.current().kind == kName && p.look().is("="):
			allow(a.starstar == nil)
			a.names = append(a.names, Text{s: p.next().text})
			p.next()
			a.kw = append(a.kw, p.expression())
		default:
			allow(a.star == nil && a.starstar == nil && a.kw == nil)
			a.pos = append(a.pos, p.expression())
		}
	}
	p.expectOperator(")")
	return a
}
