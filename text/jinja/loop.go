package jinja

// loop is the variable of that name within a loop.
type loop struct {
	items   []Value
	at      int // the item of this round
	depth   int // of recursion, from 0
	code    *forStmt
	scope   *scope  // around the loop
	changed []Value // what changed was last called with; nil: never
}

func (r *rendering) forLoop(f *forStmt, s *scope) {
	r.loopOver(f, r.eval(f.over, s), s, 0)
}

// loopOver runs a loop over the items of v. As jinja2 has it, what is behind else runs
// unless one round at least went to its end without break or continue.
func (r *rendering) loopOver(f *forStmt, v Value, s *scope, depth int) {
	l := &loop{items: r.chosen(f, r.items(v), s), depth: depth, code: f, scope: s}
	whole := false // a round went to its end
	for ; l.at < len(l.items); l.at++ {
		r.spend(1)
		inner := &scope{parent: s}
		inner.set("loop", l)
		r.assign(f.target, l.items[l.at], inner)
		sig := r.body(f.body, inner)
		if sig == broke {
			break
		}
		whole = whole || sig == atEnd
	}
	if !whole {
		r.body(f.otherwise, &scope{parent: s})
	}
}

// chosen are the items that the loop's test holds for.
func (r *rendering) chosen(f *forStmt, items []Value, s *scope) []Value {
	if f.test == nil {
		return items
	}
	var list []Value
	for _, x := range items {
		inner := &scope{parent: s}
		r.assign(f.target, x, inner)
		if r.truth(r.eval(f.test, inner)) {
			r.take(valueSize)
			list = append(list, x)
		}
	}
	return list
}

// rest is what the rounds to come are about; they do not come any more.
func (l *loop) rest() []Value {
	items := l.items[min(l.at+1, len(l.items)):]
	l.at = len(l.items)
	return items
}

// field is an attribute of the loop.
func (l *loop) field(r *rendering, name string) (Value, bool) {
	n := len(l.items)
	switch name {
	case "index":
		return int64(l.at + 1), true
	case "index0":
		return int64(l.at), true
	case "revindex":
		return int64(n - l.at), true
	case "revindex0":
		return int64(n - l.at - 1), true
	case "first":
		return l.at == 0, true
	case "last":
		return l.at >= n-1, true
	case "length":
		return int64(n), true
	case "depth":
		return int64(l.depth + 1), true
	case "depth0":
		return int64(l.depth), true
	case "previtem":
		if l.at == 0 {
			return &undefined{message: "there is no previous item"}, true
		}
		return l.items[l.at-1], true
	case "nextitem":
		if l.at >= n-1 {
			return &undefined{message: "there is no next item"}, true
		}
		return l.items[l.at+1], true
	}
	return methodOf(loopMethods, l, name)
}

func methodsOfLoops() methods {
	return methods{
		"cycle": {sig("*"), func(r *rendering, self Value, a bound) Value {
			if len(a.rest) == 0 {
				throw("TypeError", "no items for cycling given")
			}
			return a.rest[self.(*loop).at%len(a.rest)]
		}},
		"changed": {sig("*"), func(r *rendering, self Value, a bound) Value {
			l := self.(*loop)
			same := l.changed != nil && r.equalItems(l.changed, a.rest)
			r.takeTimes(len(a.rest), valueSize)
			l.changed = append([]Value{}, a.rest...)
			return !same
		}},
	}
}

// call runs the loop again over other items, and gives what it prints.
func (l *loop) call(r *rendering, a arguments) Value {
	if !l.code.recursive {
		throw("TypeError", "The loop must have the 'recursive' marker to be called recursively.")
	}
	over := r.bind(a, "loop", sig("iterable")).vals[0]
	return r.captured(func() { r.loopOver(l.code, over, l.scope, l.depth+1) })
}
