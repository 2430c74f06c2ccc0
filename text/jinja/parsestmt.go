package jinja

// statement reads one, its name being the current token.
func (p *parser) statement() stmt {
	t := p.current()
	if t.kind != kName {
		p.fail("tag name expected")
	}
	switch t.text {
	case "if":
		return p.ifStatement()
	case "for":
		return p.forStatement()
	case "set":
		return p.setStatement()
	case "macro":
		return p.macroStatement()
	case "call":
		return p.callStatement()
	case "filter":
		return p.filterStatement()
	case "with":
		return p.withStatement()
	case "block":
		return p.blockStatement()
	case "include", "import", "from", "extends":
		throwUnsupported("line %d: {%% %s %%}: a template loads no other", t.line, t.text)
	}
	p.next()
	switch t.text {
	case "print":
		return p.printStatement(t.line)
	case "autoescape":
		on := p.expression()
		return &autoescapeStmt{on: on, body: p.closed("endautoescape"), line: t.line}
	case "generation":
		return &generationStmt{body: p.apart("endgeneration"), line: t.line}
	case "break", "continue":
		if p.loops == 0 {
			p.fail("'%s' outside loop", t.text)
		}
		if t.text == "break" {
			return &breakStmt{t.line}
		}
		return &continueStmt{t.line}
	}
	p.unknownTag(t.text)
	return nil
}

// closed is inside with the one end passed over.
func (p *parser) closed(end string) []stmt {
	body := p.inside(end)
	p.next()
	return body
}

// apart is closed for a body that cannot leave the loops around it.
func (p *parser) apart(end string) []stmt {
	loops := p.loops
	p.loops = 0
	body := p.closed(end)
	p.loops = loops
	return body
}

func (p *parser) ifStatement() stmt {
	s := &ifStmt{line: p.next().line}
	for {
		arm := ifArm{test: p.tuple(tupleRules{})}
		arm.body = p.inside("elif", "else", "endif")
		s.arms = append(s.arms, arm)
		switch p.next().text {
		case "elif":
			continue
		case "else":
			s.otherwise = p.closed("endif")
		}
		return s
	}
}

func (p *parser) forStatement() stmt {
	s := &forStmt{line: p.next().line}
	s.target = p.target(tupleRules{end: "in"})
	if name, ok := s.target.(*nameExpr); ok && name.name == "loop" {
		p.fail("Can't assign to special loop variable in for-loop target")
	}
	if !p.skipName("in") {
		p.unexpected("in")
	}
	s.over = p.tuple(tupleRules{end: "recursive"})
	if p.skipName("if") {
		s.test = p.expression()
	}
	s.recursive = p.skipName("recursive")
	p.loops++
	s.body = p.inside("endfor", "else")
	p.loops--
	if p.next().text == "else" {
		s.otherwise = p.closed("endfor")
	}
	return s
}

func (p *parser) setStatement() stmt {
	line := p.next().line
	target := p.target(tupleRules{namespace: true})
	if p.skipOperator("=") {
		return &setStmt{target: target, value: p.tuple(tupleRules{condition: true}), line: line}
	}
	s := &setBlock{target: target, line: line}
	s.filter, _ = p.filters(nil).(*filterExpr)
	s.body = p.closed("endset")
	return s
}

func (p *parser) macroStatement() stmt {
	s := &macroStmt{line: p.next().line}
	s.name = p.targetName()
	s.code = &macroCode{name: s.name}
	p.signature(s.code)
	s.code.setBody(p.apart("endmacro"))
	return s
}

func (p *parser) callStatement() stmt {
	s := &callBlock{line: p.next().line, code: &macroCode{name: "caller"}}
	if p.current().is("(") {
		p.signature(s.code)
	}
	call, ok := p.expression().(*callExpr)
	if !ok {
		p.fail("expected call")
	}
	s.call = call
	s.code.setBody(p.apart("endcall"))
	return s
}

func (p *parser) filterStatement() stmt {
	s := &filterBlock{line: p.next().line}
	s.filter, _ = p.filters(p.filter(nil)).(*filterExpr) // it is one
	s.body = p.closed("endfilter")
	return s
}

func (p *parser) withStatement() stmt {
	s := &withStmt{line: p.next().line}
	for p.current().kind != kBlockEnd && p.current().kind != kEOF {
		if len(s.targets) > 0 {
			p.expectOperator(",")
		}
		s.targets = append(s.targets, p.target(tupleRules{}))
		p.expectOperator("=")
		s.values = append(s.values, p.expression())
	}
	s.body = p.closed("endwith")
	return s
}

func (p *parser) blockStatement() stmt {
	s := &blockStmt{line: p.next().line}
	s.name = p.expectName()
	if p.blocks[s.name] {
		p.fail("block '%s' defined twice", s.name)
	}
	p.blocks[s.name] = true
	s.scoped = p.skipName("scoped")
	if p.current().named("required") {
		throwUnsupported("line %d: a required block", s.line)
	}
	s.body = p.apart("endblock")
	p.skipName(s.name)
	return s
}

func (p *parser) printStatement(line int) stmt {
	s := &outputStmt{line: line}
	for p.current().kind != kBlockEnd && p.current().kind != kEOF {
		if len(s.parts) > 0 {
			p.expectOperator(",")
		}
		s.parts = append(s.parts, p.expression())
	}
	return s
}

// signature reads the parameters of a macro.
func (p *parser) signature(m *macroCode) {
	p.expectOperator("(")
	for !p.current().is(")") {
		if len(m.params) > 0 {
			p.expectOperator(",")
		}
		m.params = append(m.params, p.targetName())
		switch {
		case p.skipOperator("="):
			m.defaults = append(m.defaults, p.expression())
		case len(m.defaults) > 0:
			p.fail("non-default argument follows default argument")
		}
	}
	p.expectOperator(")")
}

// setBody gives the macro its body, and sees what that asks for.
func (m *macroCode) setBody(body []stmt) {
	m.body = body
	walk(body, func(n any) {
		if name, ok := n.(*nameExpr); ok {
			m.varargs = m.varargs || name.name == "varargs"
			m.kwargs = m.kwargs || name.name == "kwargs"
			m.caller = m.caller || name.name == "caller"
		}
	})
}

// target reads what is assigned to: a name, names, or a field of a namespace.
func (p *parser) target(rules tupleRules) expr {
	rules.simple = true
	t := p.tuple(rules)
	p.checkTarget(t)
	return t
}

func (p *parser) checkTarget(t expr) {
	switch t := t.(type) {
	case *nameExpr, *nsRef:
	case *tupleExpr:
		for _, x := range t.items {
			p.checkTarget(x)
		}
	default:
		p.fail("can't assign to an expression")
	}
}

func (p *parser) targetName() string {
	name := p.expectName()
	switch name {
	case "true", "false", "none", "True", "False", "None":
		p.fail("can't assign to '%s'", name)
	}
	return name
}
