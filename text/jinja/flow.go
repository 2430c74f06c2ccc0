package jinja

// role is what an expression stands for in a template that is given a list.
type role uint8

const (
	theList  role = 1 << iota // the list, or some of its items
	anItem                    // one of them
	theField                  // the field of an item, or a part of it
)

// flow follows a list through a template. Names are taken for the same wherever they stand.
type flow struct {
	field  string
	roles  map[string]role
	macros map[string]*macroCode
	loops  bool // somewhere, there is a loop over the field
	news   bool // a name has got a role in this round
}

// flowRounds is how often a template is gone through at most: names may get what they stand
// for behind their use. Real templates need two or three.
const flowRounds = 8

// LoopsOver says whether the template has a loop over a field of the items of a list that it
// is given, such as the content of messages, also where these go by other names or to a macro.
func (t *Template) LoopsOver(list, field string) bool {
	f := &flow{field: field, roles: map[string]role{list: theList}, macros: make(map[string]*macroCode)}
	walk(t.body, func(n any) {
		if m, ok := n.(*macroStmt); ok {
			f.macros[m.name] = m.code
		}
	})
	for round := 0; round < flowRounds && (round == 0 || f.news); round++ {
		f.news = false
		walk(t.body, f.see)
	}
	return f.loops
}

// see takes what a node says of names.
func (f *flow) see(n any) {
	switch n := n.(type) {
	case *forStmt:
		over := f.role(n.over)
		f.loops = f.loops || over&theField != 0
		if over&theList != 0 {
			f.give(n.target, anItem)
		}
	case *setStmt:
		f.give(n.target, f.role(n.value))
	case *withStmt:
		for i, target := range n.targets {
			f.give(target, f.role(n.values[i]))
		}
	case *callExpr:
		f.pass(n)
	}
}

// pass gives the parameters of a macro what they are called with.
func (f *flow) pass(call *callExpr) {
	name, ok := call.fn.(*nameExpr)
	if !ok || f.macros[name.name] == nil {
		return
	}
	params := f.macros[name.name].params
	for i, x := range call.args.pos[:min(len(params), len(call.args.pos))] {
		f.give(&nameExpr{params[i]}, f.role(x))
	}
	for i, x := range call.args.kw {
		f.give(&nameExpr{call.args.names[i].s}, f.role(x))
	}
}

// give adds to the roles of a name.
func (f *flow) give(target expr, r role) {
	if name, ok := target.(*nameExpr); ok && r&^f.roles[name.name] != 0 {
		f.roles[name.name] |= r
		f.news = true
	}
}

// role is what an expression may stand for.
func (f *flow) role(x expr) role {
	switch x := x.(type) {
	case *nameExpr:
		return f.roles[x.name]
	case *attrExpr:
		return f.item(f.role(x.x), x.name)
	case *itemExpr:
		return f.keyed(f.role(x.x), x.key)
	case *filterExpr:
		of := f.role(x.x)
		if x.name == "first" || x.name == "last" {
			return f.keyed(of, nil)
		}
		return of &^ anItem
	case *condExpr:
		return f.role(x.then) | f.role(x.otherwise)
	case *andExpr:
		return f.role(x.left) | f.role(x.right)
	case *orExpr:
		return f.role(x.left) | f.role(x.right)
	case *binaryExpr:
		return (f.role(x.left) | f.role(x.right)) & theList
	case *callExpr: // message.get('content')
		if get, ok := x.fn.(*attrExpr); ok && get.name == "get" && len(x.args.pos) > 0 {
			return f.keyed(f.role(get.x)&anItem, x.args.pos[0])
		}
	}
	return 0
}

// item is what an item's part of a name is.
func (f *flow) item(of role, name string) role {
	if of&anItem != 0 && name == f.field {
		return theField
	}
	return 0
}

// keyed is what something in brackets gives.
func (f *flow) keyed(of role, key expr) role {
	switch key := key.(type) {
	case *sliceExpr:
		return of &^ anItem
	case *literal:
		if name, ok := key.value.(Text); ok {
			return f.item(of, name.s)
		}
	}
	if of&theList != 0 {
		return anItem
	}
	return 0
}
