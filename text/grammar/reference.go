package grammar

import (
	"net/url"
	"strconv"
	"strings"
)

// maxRefs is how many parts of a schema are referred to.
const maxRefs = 1024

// resolve is the part of the schema that a reference points to.
func (s *schemas) resolve(ref *value) *value {
	rest, here := strings.CutPrefix(ref.text, "#")
	if ref.kind != kindString || !here || rest != "" && rest[0] != '/' {
		s.bad(ErrUnsupported, ref, "a reference to %.60q: only those within the schema are followed, like #/$defs/name", ref.text)
		return nil
	}
	at := s.resource(ref)
	for i, name := range strings.Split(rest, "/") {
		if i == 0 {
			continue // before the first slash
		}
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		if at = at.child(strings.NewReplacer("~1", "/", "~0", "~").Replace(name)); at == nil {
			s.bad(ErrSpec, ref, "nothing is at %.60q", ref.text)
			return nil
		}
	}
	s.refs[at] = true
	if len(s.refs) > maxRefs {
		s.bad(ErrTooLarge, ref, "more than %d parts are referred to", maxRefs)
	}
	return at
}

// resource is the schema whose beginning # stands for: the innermost one around with an
// $id of its own, else the whole.
func (s *schemas) resource(v *value) *value {
	for ; v.up != nil; v = v.up {
		if id := v.get("$id"); id != nil && id.kind == kindString {
			break
		}
	}
	return v
}

// child is a member of an object or an item of an array; nil: there is none.
func (v *value) child(name string) *value {
	if v.kind == kindObject {
		return v.get(name)
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= len(v.items) {
		return nil
	}
	return v.items[i]
}
