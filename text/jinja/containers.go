package jinja

// methodsOfLists and the others are the methods of containers that do not change them.
func methodsOfLists() methods {
	m := methodsOfTuples()
	m["copy"] = &methodCode{sig(""), func(r *rendering, self Value, _ bound) Value { return self }}
	return m
}

func methodsOfTuples() methods {
	return methods{
		"index": {sig("/value /start? /stop?"), func(r *rendering, self Value, a bound) Value {
			items := r.items(self)
			first, _, n := (&slice{start: a.get(1, nil), stop: a.get(2, nil)}).bounds(len(items))
			for i, x := range items[first : first+n] {
				if r.equal(x, a.vals[0]) {
					return int64(first + i)
				}
			}
			throw("ValueError", "%s is not in list", r.repr(a.vals[0]).s)
			return nil
		}},
		"count": {sig("/value"), func(r *rendering, self Value, a bound) Value {
			n := int64(0)
			for _, x := range r.items(self) {
				if r.equal(x, a.vals[0]) {
					n++
				}
			}
			return n
		}},
	}
}

func methodsOfDicts() methods {
	m := methods{
		"get": {sig("/key /default?"), func(r *rendering, self Value, a bound) Value {
			if v, ok := self.(*Dict).find(r.hash(a.vals[0])); ok {
				return v
			}
			return a.get(1, nil)
		}},
		"copy": {sig(""), func(r *rendering, self Value, _ bound) Value { return self }},
		"fromkeys": {sig("/iterable /value?"), func(r *rendering, _ Value, a bound) Value {
			return r.fromKeys(a)
		}},
	}
	for _, kind := range []string{"keys", "values", "items"} {
		m[kind] = &methodCode{sig(""), func(r *rendering, self Value, _ bound) Value {
			return &view{self.(*Dict), kind}
		}}
	}
	return m
}

func (r *rendering) fromKeys(a bound) Value {
	d := NewDict()
	for _, k := range r.items(a.vals[0]) {
		r.put(d, k, a.get(1, nil))
	}
	return d
}

// field is an attribute of a range.
func (s *span) field(name string) (Value, bool) {
	switch name {
	case "start":
		return s.start, true
	case "stop":
		return s.stop, true
	case "step":
		return s.step, true
	}
	return methodOf(tupleMethods, s, name)
}
