package grammar

import "strings"

// values reads one of some values, of those that have a type of v.
func (s *schemas) values(v *value, list []*value, next int32) int32 {
	types, ok := s.types(v)
	if !ok {
		return dead
	}
	all := dead
	for _, one := range list {
		if len(types) == 0 || one.isOne(types) {
			all = s.either(all, s.value(one, next))
		}
	}
	return all
}

// isOne says whether v has one of some types.
func (v *value) isOne(types []string) bool {
	for _, t := range types {
		if t == string(v.kind) || t == "integer" && v.kind == kindNumber && !strings.ContainsAny(v.text, ".eE") {
			return true
		}
	}
	return false
}

// value reads a value as it is written in the schema, with its members in that order, in
// any layout.
func (s *schemas) value(v *value, next int32) int32 {
	switch v.kind {
	case kindObject, kindArray:
		return s.container(v, next)
	case kindString:
		return s.text(quoted(v.text), next)
	case kindNumber:
		return s.text(v.text, next)
	case kindBool:
		if v.yes {
			return s.text("true", next)
		}
		return s.text("false", next)
	}
	return s.text("null", next)
}

func (s *schemas) container(v *value, next int32) int32 {
	opening, closing := "[", "]"
	if v.kind == kindObject {
		opening, closing = "{", "}"
	}
	begin, closed := dead, s.text(closing, next)
	for i := len(v.items) - 1; i >= 0; i-- {
		after := s.follow(begin, dead)
		if i == len(v.items)-1 {
			after = s.follow(dead, closed)
		}
		begin = s.value(v.items[i], after)
		if v.kind == kindObject {
			begin = s.text(quoted(v.keys[i]), s.colon(begin))
		}
	}
	if len(v.items) == 0 {
		begin = closed
	}
	return s.text(opening, s.layout(begin))
}
