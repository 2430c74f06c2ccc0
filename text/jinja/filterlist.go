package jinja

// listFilters are filters of lists and of what can be iterated.
func listFilters() methods {
	size := &methodCode{sig(""), func(r *rendering, v Value, _ bound) Value {
		n, ok := r.length(v)
		if u, isUndefined := v.(*undefined); isUndefined && u.unsafe {
			u.fail(r)
		}
		if !ok {
			throw("TypeError", "object of type '%s' has no len()", typeName(v))
		}
		return int64(n)
	}}
	return methods{
		"length": size,
		"count":  size,
		"list":   {sig(""), func(r *rendering, v Value, _ bound) Value { return &List{r.items(v)} }},
		"items": {sig(""), func(r *rendering, v Value, _ bound) Value {
			switch v := v.(type) {
			case *undefined:
				return lazily(nil)
			case *Dict:
				return lazily(r.viewItems(&view{v, "items"}))
			}
			throw("TypeError", "Can only get item pairs from a mapping.")
			return nil
		}},
		"first": {sig(""), func(r *rendering, v Value, _ bound) Value {
			if items := r.items(v); len(items) > 0 {
				return items[0]
			}
			return &undefined{message: "No first item, sequence was empty."}
		}},
		"last": {sig(""), func(r *rendering, v Value, _ bound) Value {
			if _, ok := v.(*generator); ok {
				throw("TypeError", "'%s' object is not reversible", typeName(v))
			}
			if items := r.items(v); len(items) > 0 {
				return items[len(items)-1]
			}
			return &undefined{message: "No last item, sequence was empty."}
		}},
		"reverse": {sig(""), func(r *rendering, v Value, _ bound) Value {
			if t, ok := v.(Text); ok {
				return r.slicedText(t, &slice{step: int64(-1)})
			}
			if !isIterable(v) {
				throw("FilterArgumentError", "argument must be iterable")
			}
			return &generator{r.slicedItems(r.items(v), &slice{step: int64(-1)}), "list_reverseiterator"}
		}},
		"batch": {sig("linecount fill_with?"), func(r *rendering, v Value, a bound) Value {
			return r.batches(r.items(v), a)
		}},
		"slice": {sig("slices fill_with?"), func(r *rendering, v Value, a bound) Value {
			return r.columns(r.items(v), a)
		}},
	}
}

// batches are lists of so many items.
func (r *rendering) batches(items []Value, a bound) Value {
	n := a.number(r, 0, 0)
	if n < 1 {
		throwUnsupported("batch of %d items", n)
	}
	fill := a.get(1, nil)
	var list []Value
	for len(items) > 0 {
		k := min(n, len(items))
		part := items[:k:k]
		items = items[k:]
		if k < n && fill != nil {
			part = r.chain(part, r.repeatItems([]Value{fill}, n-k))
		}
		r.take(valueSize)
		list = append(list, &List{part})
	}
	return lazily(list)
}

// columns are so many lists, which are as equally long as they can be.
func (r *rendering) columns(items []Value, a bound) Value {
	n := a.number(r, 0, 0)
	if n == 0 {
		throw("ZeroDivisionError", "integer division or modulo by zero")
	}
	r.takeTimes(max(n, 0), 3*valueSize)
	var list []Value
	fill := a.get(1, nil)
	for i := range max(n, 0) {
		k := len(items) / (n - i)
		if len(items)%(n-i) > 0 {
			k++
		}
		part := items[:k:k]
		items = items[k:]
		list = append(list, &List{part})
	}
	if fill != nil && len(list) > 0 {
		r.fillColumns(list, fill)
	}
	return lazily(list)
}

// fillColumns adds an item to the lists that are shorter than the first one, and, as
// jinja2 does, to all where none is.
func (r *rendering) fillColumns(list []Value, fill Value) {
	longest := len(list[0].(*List).items)
	all := len(list[len(list)-1].(*List).items) == longest
	for i, l := range list {
		if items := l.(*List).items; all || len(items) < longest {
			list[i] = &List{r.chain(items, []Value{fill})}
		}
	}
}
