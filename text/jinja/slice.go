package jinja

// slice is what start:stop:step is; nil: not given.
type slice struct{ start, stop, step Value }

// bounds are the indices of a slice of something that has n items: the first one, the
// step, and how many.
func (s *slice) bounds(n int) (first, step, count int) {
	step = 1
	if s.step != nil {
		step = index(s.step, n)
		if step == 0 {
			throw("ValueError", "slice step cannot be zero")
		}
	}
	low, high := 0, n // where start and stop are clipped
	if step < 0 {
		low, high = -1, n-1
	}
	clip := func(v Value, missing int) int {
		if v == nil {
			return missing
		}
		i := index(v, n)
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	var stop int
	if step > 0 {
		first, stop = clip(s.start, low), clip(s.stop, high)
		count = (stop - first + step - 1) / step
	} else {
		first, stop = clip(s.start, high), clip(s.stop, low)
		count = (first - stop - step - 1) / -step
	}
	return first, step, max(count, 0)
}

// index is a number of a slice. One that is far outside becomes one just outside.
func index(v Value, n int) int {
	x, ok := integer(v)
	if !ok {
		throw("TypeError", "slice indices must be integers or None or have an __index__ method")
	}
	if !x.IsInt64() {
		return (n + 1) * x.Sign()
	}
	return int(min(max(x.Int64(), int64(-n-1)), int64(n+1)))
}

// sliced is a part of v; false: it has no parts.
func (r *rendering) sliced(v Value, s *slice) (Value, bool) {
	switch v := v.(type) {
	case *List:
		return &List{r.slicedItems(v.items, s)}, true
	case *tuple:
		return &tuple{items: r.slicedItems(v.items, s)}, true
	case Text:
		return r.slicedText(v, s), true
	case *span:
		first, step, count := s.bounds(v.length())
		start := v.at(first)
		return &span{start, start + int64(count*step)*v.step, int64(step) * v.step}, true
	}
	return nil, false
}

func (r *rendering) slicedItems(items []Value, s *slice) []Value {
	first, step, count := s.bounds(len(items))
	if step == 1 {
		r.spend(1)
		return items[first : first+count : first+count]
	}
	r.takeTimes(count, valueSize)
	list := make([]Value, count)
	for i := range list {
		list[i] = items[first+i*step]
	}
	return list
}

func (r *rendering) slicedText(t Text, s *slice) Text {
	first, step, count := s.bounds(r.runes(t))
	if count == 0 {
		return Text{safe: t.safe}
	}
	at := skip(t.s, 0, first)
	if step == 1 {
		end := skip(t.s, at, count)
		r.take(end - at)
		return r.part(t, at, end)
	}
	b := builder{run: r, safe: t.safe}
	for i := range count {
		if i > 0 {
			at = skip(t.s, at, step)
		}
		b.like(t, at, t.s[at:skip(t.s, at, 1)])
	}
	return b.text()
}
