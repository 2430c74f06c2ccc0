package jinja

// walk calls f for every statement and expression of a body, those that are assigned
// to left out.
func walk(body []stmt, f func(any)) {
	for _, s := range body {
		walkStmt(s, f)
	}
}

func walkStmt(s stmt, f func(any)) {
	f(s)
	switch s := s.(type) {
	case *outputStmt:
		walkAll(s.parts, f)
	case *ifStmt:
		for _, a := range s.arms {
			walkExpr(a.test, f)
			walk(a.body, f)
		}
		walk(s.otherwise, f)
	case *forStmt:
		walkExpr(s.over, f)
		walkExpr(s.test, f)
		walk(s.body, f)
		walk(s.otherwise, f)
	case *setStmt:
		walkExpr(s.value, f)
	case *setBlock:
		if s.filter != nil {
			walkExpr(s.filter, f)
		}
		walk(s.body, f)
	case *withStmt:
		walkAll(s.values, f)
		walk(s.body, f)
	case *macroStmt:
		walkAll(s.code.defaults, f)
		walk(s.code.body, f)
	case *callBlock:
		walkExpr(s.call, f)
		walkAll(s.code.defaults, f)
		walk(s.code.body, f)
	case *filterBlock:
		walkExpr(s.filter, f)
		walk(s.body, f)
	case *autoescapeStmt:
		walkExpr(s.on, f)
		walk(s.body, f)
	case *blockStmt:
		walk(s.body, f)
	case *generationStmt:
		walk(s.body, f)
	}
}

func walkAll(list []expr, f func(any)) {
	for _, x := range list {
		walkExpr(x, f)
	}
}

func walkExpr(x expr, f func(any)) {
	if x == nil {
		return
	}
	f(x)
	switch x := x.(type) {
	case *listExpr:
		walkAll(x.items, f)
	case *tupleExpr:
		walkAll(x.items, f)
	case *dictExpr:
		walkAll(x.keys, f)
		walkAll(x.values, f)
	case *concatExpr:
		walkAll(x.parts, f)
	case *compareExpr:
		walkExpr(x.first, f)
		for _, o := range x.ops {
			walkExpr(o.x, f)
		}
	case *callExpr:
		walkExpr(x.fn, f)
		walkArgs(x.args, f)
	case *filterExpr:
		walkExpr(x.x, f)
		walkArgs(x.args, f)
	case *testExpr:
		walkExpr(x.x, f)
		walkArgs(x.args, f)
	default:
		walkAll(operands(x), f)
	}
}

// operands are the parts of an expression that has a fixed number of them.
func operands(x expr) []expr {
	switch x := x.(type) {
	case *condExpr:
		return []expr{x.test, x.then, x.otherwise}
	case *andExpr:
		return []expr{x.left, x.right}
	case *orExpr:
		return []expr{x.left, x.right}
	case *binaryExpr:
		return []expr{x.left, x.right}
	case *notExpr:
		return []expr{x.x}
	case *signExpr:
		return []expr{x.x}
	case *attrExpr:
		return []expr{x.x}
	case *itemExpr:
		return []expr{x.x, x.key}
	case *sliceExpr:
		return []expr{x.start, x.stop, x.step}
	}
	return nil
}

func walkArgs(a callArgs, f func(any)) {
	walkAll(a.pos, f)
	walkAll(a.kw, f)
	walkExpr(a.star, f)
	walkExpr(a.starstar, f)
}
