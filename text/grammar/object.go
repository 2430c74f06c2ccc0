package grammar

import "slices"

// member is a property of an object.
type member struct {
	name     string
	value    int32 // its rule
	required bool
}

// object reads an object with the properties of a schema in its order, those that are
// not required or not, and behind them others, where the schema asks for them.
func (s *schemas) object(v *value, next int32) int32 {
	members, others, ok := s.members(v)
	if !ok {
		return dead
	}
	closed := s.text("}", next)
	finish := closed // dead where members must follow
	follow := dead   // the members that may
	if others >= 0 {
		key, after := s.otherKey(members), s.hole()
		member := s.call(key, s.colon(s.call(others, after)))
		s.become(after, s.follow(member, closed))
		follow = member
	}
	for _, m := range slices.Backward(members) {
		here := s.text(quoted(m.name), s.colon(s.call(m.value, s.follow(follow, finish))))
		if m.required {
			follow, finish = here, dead
		} else {
			follow = s.either(here, follow)
		}
	}
	return s.text("{", s.layout(s.either(follow, finish)))
}

// members are the properties of a schema, and the rule of others, -1 for none. Where
// it says nothing of others there are none, but of a schema without properties.
func (s *schemas) members(v *value) (members []member, others int32, ok bool) {
	required, ok := s.required(v)
	if !ok {
		return nil, 0, false
	}
	others = -1
	extra := v.get("additionalProperties")
	properties := v.get("properties")
	switch {
	case extra != nil && (extra.kind != kindBool || extra.yes):
		others = s.schema(extra)
	case extra == nil && properties == nil:
		others = s.anyValue()
	}
	if properties == nil {
		properties = &value{kind: kindObject}
	}
	if properties.kind != kindObject {
		s.bad(ErrSpec, properties, `"properties" must be an object`)
		return nil, 0, false
	}
	for i, name := range properties.keys {
		members = append(members, member{name, s.schema(properties.items[i]), required[name]})
		delete(required, name)
	}
	return s.undescribed(v, required, members, others)
}

// undescribed adds the members that are required and not among the properties: they
// are like others, or anything where nothing is said of those.
func (s *schemas) undescribed(v *value, required map[string]bool, members []member, others int32) ([]member, int32, bool) {
	rule := others
	if others < 0 {
		rule = s.anyValue()
		if v.get("additionalProperties") != nil && len(required) > 0 {
			s.bad(ErrNothing, v, "a member is required that is not among the properties, and no others may be there")
			return nil, 0, false
		}
	}
	if list := v.get("required"); list != nil {
		for _, one := range list.items {
			if required[one.text] {
				members = append(members, member{one.text, rule, true})
				delete(required, one.text)
			}
		}
	}
	return members, others, true
}

func (s *schemas) required(v *value) (names map[string]bool, ok bool) {
	names = make(map[string]bool)
	list := v.get("required")
	if list == nil {
		return names, true
	}
	for _, one := range list.items {
		if one.kind != kindString {
			s.bad(ErrSpec, list, `"required" must be a list of names`)
			return nil, false
		}
		names[one.text] = true
	}
	if list.kind != kindArray {
		s.bad(ErrSpec, list, `"required" must be a list of names`)
		return nil, false
	}
	return names, true
}

// maxName is the length of a property's name where others may stand beside it.
const maxName = 1024

// prefix is the beginning of some names.
type prefix struct {
	whole bool // it is one of them
	runes []rune
	next  []*prefix // by rune
}

// otherKey is the rule of keys that none of the members has.
func (s *schemas) otherKey(members []member) int32 {
	root := &prefix{}
	for _, m := range members {
		if len(m.name) > maxName {
			s.fail(ErrTooLarge)
			return 0
		}
		at := root
		for _, r := range m.name {
			at = at.child(r)
		}
		at.whole = true
	}
	return s.rule(root, func(next int32) int32 {
		c := newPatternBuilder()
		start := c.others(root, c.loop(c.any, matching))
		if c.err != nil {
			return s.fail(c.err)
		}
		return s.text(`"`, s.pattern(&pattern{c.parts, start}, asJSON, counts{}, s.text(`"`, next)))
	})
}

func (p *prefix) child(r rune) *prefix {
	i, found := slices.BinarySearch(p.runes, r)
	if !found {
		p.runes = slices.Insert(p.runes, i, r)
		p.next = slices.Insert(p.next, i, &prefix{})
	}
	return p.next[i]
}

// others reads what follows a prefix of names in other keys; free reads anything.
func (c *patternBuilder) others(p *prefix, free int32) int32 {
	at, from := failing, rune(0)
	var rest []rune
	for i, r := range p.runes {
		at = c.fork(c.read([]rune{r, r}, c.others(p.next[i], free)), at)
		if from < r {
			rest = append(rest, from, r-1)
		}
		from = r + 1
	}
	rest = append(rest, from, anyRune[1])
	at = c.fork(c.read(rest, free), at)
	if !p.whole {
		at = c.fork(matching, at)
	}
	return at
}
