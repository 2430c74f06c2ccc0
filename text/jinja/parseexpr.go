package jinja

// tupleRules say what may be an item of a tuple that needs no parentheses.
type tupleRules struct {
	simple    bool   // names and literals only
	condition bool   // x if y else z too
	namespace bool   // with simple: fields of namespaces too
	explicit  bool   // within parentheses, so that it may be empty
	end       string // a name that ends it
}

// tuple reads an expression, or several with commas between them.
func (p *parser) tuple(rules tupleRules) expr {
	var items []expr
	isTuple := false
	for {
		if len(items) > 0 {
			p.expectOperator(",")
		}
		if p.tupleEnds(rules.end) {
			break
		}
		switch {
		case rules.simple:
			items = append(items, p.primary(rules.namespace))
		case rules.condition || rules.explicit:
			items = append(items, p.expression())
		default:
			items = append(items, p.or())
		}
		if !p.current().is(",") {
			break
		}
		isTuple = true
	}
	if !isTuple && len(items) > 0 {
		return items[0]
	}
	if !isTuple && !rules.explicit {
		p.fail("Expected an expression, got '%v'", p.current())
	}
	return &tupleExpr{items}
}

func (p *parser) tupleEnds(name string) bool {
	t := p.current()
	return t.kind == kPrintEnd || t.kind == kBlockEnd || t.is(")") || name != "" && t.named(name)
}

// expression reads one, with conditions.
func (p *parser) expression() expr {
	p.enter()
	defer func() { p.depth-- }()
	x := p.or()
	for p.skipName("if") {
		c := &condExpr{then: x, test: p.or()}
		if p.skipName("else") {
			c.otherwise = p.expression()
		}
		x = c
	}
	return x
}

func (p *parser) or() expr {
	x := p.and()
	for p.skipName("or") {
		x = &orExpr{x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for p.skipName("and") {
		x = &andExpr{x, p.not()}
	}
	return x
}

func (p *parser) not() expr {
	if !p.skipName("not") {
		return p.compare()
	}
	p.enter()
	defer func() { p.depth-- }()
	return &notExpr{p.not()}
}

func (p *parser) compare() expr {
	first := p.sum()
	var ops []compareOp
	for {
		t := p.current()
		switch {
		case t.is("==") || t.is("!=") || t.is("<") || t.is("<=") || t.is(">") || t.is(">="):
			p.next()
			ops = append(ops, compareOp{t.text, p.sum()})
			continue
		case p.skipName("in"):
			ops = append(ops, compareOp{"in", p.sum()})
			continue
		case t.named("not") && p.look().named("in"):
			p.at += 2
			ops = append(ops, compareOp{"notin", p.sum()})
			continue
		}
		if ops == nil {
			return first
		}
		return &compareExpr{first, ops}
	}
}

func (p *parser) sum() expr {
	x := p.concat()
	for p.current().is("+") || p.current().is("-") {
		op := p.next().text
		x = &binaryExpr{op, x, p.concat()}
	}
	return x
}

func (p *parser) concat() expr {
	parts := []expr{p.product()}
	for p.skipOperator("~") {
		parts = append(parts, p.product())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &concatExpr{parts}
}

func (p *parser) product() expr {
	x := p.power()
	for p.current().is("*") || p.current().is("/") || p.current().is("//") || p.current().is("%") {
		op := p.next().text
		x = &binaryExpr{op, x, p.power()}
	}
	return x
}

func (p *parser) power() expr {
	x := p.unary(true)
	for p.skipOperator("**") {
		x = &binaryExpr{"**", x, p.unary(true)}
	}
	return x
}

// unary reads what signs, calls, subscripts and, if wanted, filters make of a primary.
func (p *parser) unary(filters bool) expr {
	var x expr
	switch t := p.current(); {
	case t.is("-"), t.is("+"):
		p.next()
		p.enter()
		x = &signExpr{t.text == "-", p.unary(false)}
		p.depth--
	default:
		x = p.primary(false)
	}
	x = p.postfix(x)
	if filters {
		x = p.filterOrTest(x)
	}
	return x
}

// primary reads a name, a literal, or what is in brackets.
func (p *parser) primary(namespace bool) expr {
	t := p.current()
	switch {
	case t.kind == kName:
		p.next()
		return p.name(t.text, namespace)
	case t.kind == kString:
		text := p.next().text
		for p.current().kind == kString {
			text += p.next().text
		}
		return &literal{Text{s: text}}
	case t.kind == kInteger || t.kind == kFloat:
		p.next()
		return &literal{numberValue(t)}
	case t.is("("):
		p.next()
		p.enter()
		x := p.tuple(tupleRules{explicit: true})
		p.depth--
		p.expectOperator(")")
		return x
	case t.is("["):
		return p.list()
	case t.is("{"):
		return p.dict()
	}
	p.fail("unexpected '%v'", t)
	return nil
}

func (p *parser) name(name string, namespace bool) expr {
	switch name {
	case "true", "True":
		return &literal{true}
	case "false", "False":
		return &literal{false}
	case "none", "None":
		return &literal{nil}
	}
	if namespace && p.skipOperator(".") {
		return &nsRef{name, p.expectName()}
	}
	return &nameExpr{name}
}

func (p *parser) list() expr {
	p.next()
	l := &listExpr{}
	for !p.current().is("]") {
		if len(l.items) > 0 {
			p.expectOperator(",")
		}
		if p.current().is("]") {
			break
		}
		l.items = append(l.items, p.expression())
	}
	p.expectOperator("]")
	return l
}

func (p *parser) dict() expr {
	p.next()
	d := &dictExpr{}
	for !p.current().is("}") {
		if len(d.keys) > 0 {
			p.expectOperator(",")
		}
		if p.current().is("}") {
			break
		}
		d.keys = append(d.keys, p.expression())
		p.expectOperator(":")
		d.values = append(d.values, p.expression())
	}
	p.expectOperator("}")
	return d
}
