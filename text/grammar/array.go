package grammar

// array reads an array: the items of "prefixItems", then those of "items".
func (s *schemas) array(v *value, next int32) int32 {
	var first []*value
	if tuple := v.get("prefixItems"); tuple != nil {
		if tuple.kind != kindArray {
			return s.bad(ErrSpec, tuple, `"prefixItems" must be a list`)
		}
		first = tuple.items
	}
	others := s.anyValue
	if items := v.get("items"); items != nil {
		others = func() int32 { return s.schema(items) }
	}
	least, most := s.whole(v, "minItems", 0), s.whole(v, "maxItems", -1)
	if s.err != nil {
		return dead
	}
	closed := s.text("]", next)
	open := most < 0
	if open {
		most = max(least, len(first))
	}
	follow := dead // the items from the k-th on, a comma before
	if open {
		after := s.hole()
		follow = s.call(others(), after)
		s.become(after, s.follow(follow, closed))
	}
	for k := most - 1; k >= 0 && s.err == nil; k-- {
		last := dead
		if k+1 >= least {
			last = closed
		}
		after := s.follow(follow, last)
		rule := int32(0)
		if k < len(first) {
			rule = s.schema(first[k])
		} else {
			rule = others()
		}
		follow = s.call(rule, after)
	}
	if least == 0 {
		follow = s.either(follow, closed)
	}
	return s.text("[", s.layout(follow))
}
