package jinja

// items are what iterating over v gives; it fails for what cannot be iterated.
func (r *rendering) items(v Value) []Value {
	switch v := v.(type) {
	case *List:
		return v.items
	case *tuple:
		return v.items
	case *Dict:
		return v.keys
	case *view:
		return r.viewItems(v)
	case *generator:
		return v.rest()
	case *span:
		return r.spanItems(v)
	case Text:
		return r.characters(v)
	case *undefined:
		if v.unsafe {
			v.fail(r)
		}
		return nil
	case *loop:
		return v.rest()
	}
	throw("TypeError", "'%s' object is not iterable", typeName(v))
	return nil
}

func (r *rendering) viewItems(v *view) []Value {
	switch v.kind {
	case "keys":
		return v.dict.keys
	case "values":
		return v.dict.values
	}
	r.takeTimes(v.dict.Len(), 4*valueSize)
	list := make([]Value, v.dict.Len())
	for i, k := range v.dict.keys {
		list[i] = &tuple{items: []Value{k, v.dict.values[i]}}
	}
	return list
}

func (r *rendering) spanItems(s *span) []Value {
	n := s.length()
	r.takeTimes(n, valueSize)
	r.spend(n)
	list := make([]Value, n)
	for i := range list {
		list[i] = s.at(i)
	}
	return list
}

// characters are the code points of a text as texts.
func (r *rendering) characters(t Text) []Value {
	r.takeTimes(len(t.s), 4*valueSize)
	list := make([]Value, 0, r.runes(t))
	for i := 0; i < len(t.s); {
		end := skip(t.s, i, 1)
		list = append(list, r.part(t, i, end))
		i = end
	}
	return list
}

// lazily is a list as Python's generators are.
func lazily(items []Value) *generator { return &generator{items, "generator"} }
