package jinja

// refused are filters of jinja2 that are left out, and why.
var refused = map[string]string{
	"random": "its result is not the same each time",
	"urlize": "it makes links",
	"pprint": "it lays out for a terminal",
}

// checkNames fails for filters and tests that there are not. Within an if or a
// conditional expression they are no error until they are used: templates ask there
// whether they are run by a library that has them.
func checkNames(body []stmt) {
	soft := make(map[any]bool)
	soften := func(n any) { soft[n] = true }
	walk(body, func(n any) {
		switch n := n.(type) {
		case *ifStmt:
			if !soft[n] {
				walkStmt(n, soften)
			}
		case *condExpr:
			if !soft[n] {
				walkExpr(n, soften)
			}
		case *filterExpr:
			checkFilter(n, soft[n])
		case *testExpr:
			checkTest(n, soft[n])
		}
	})
}

func checkFilter(f *filterExpr, soft bool) {
	if why, ok := refused[f.name]; ok {
		throwUnsupported("line %d: the filter '%s': %s", f.line, f.name, why)
	}
	if filters[f.name] == nil && !soft {
		throwSyntax(f.line, "No filter named '%s'.", f.name)
	}
}

func checkTest(t *testExpr, soft bool) {
	if tests[t.name] == nil && !soft {
		throwSyntax(t.line, "No test named '%s'.", t.name)
	}
}
