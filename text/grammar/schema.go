package grammar

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// annotations are the keywords that say nothing of the texts that match.
var annotations = []string{
	"$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "example", "examples",
	"deprecated", "readOnly", "writeOnly", "discriminator",
}

// keywords are those that bound values of some type, which they have no effect beside.
var keywords = map[string][]string{
	"properties": {"object"}, "required": {"object"}, "additionalProperties": {"object"},
	"items": {"array"}, "prefixItems": {"array"}, "minItems": {"array"}, "maxItems": {"array"},
	"minLength": {"string"}, "maxLength": {"string"}, "pattern": {"string"}, "format": {"string"},
	"minimum": {"number", "integer"}, "maximum": {"number", "integer"},
	"exclusiveMinimum": {"number", "integer"}, "exclusiveMaximum": {"number", "integer"},
}

// combining are the keywords that stand alone but for annotations, those with true
// beside "type".
var combining = map[string]bool{"$ref": false, "allOf": false, "anyOf": false, "oneOf": false, "enum": true, "const": true}

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// schemas compiles the parts of a schema to rules.
type schemas struct {
	*builder
	refs map[*value]bool
}

// schema is the rule of a part that is a schema.
func (s *schemas) schema(v *value) int32 {
	return s.rule(v, func(next int32) int32 { return s.body(v, next) })
}

// bad fails for what v is or has.
func (s *schemas) bad(class error, v *value, format string, args ...any) int32 {
	return s.fail(fmt.Errorf("%w: %s at %s", class, fmt.Sprintf(format, args...), v.path()))
}

func (s *schemas) body(v *value, next int32) int32 {
	switch {
	case v.kind == kindBool && v.yes:
		return s.call(s.anyValue(), next)
	case v.kind == kindBool:
		return dead
	case v.kind != kindObject:
		return s.bad(ErrSpec, v, "a schema is %s, must be an object", v.kind)
	}
	if key := s.combined(v); key != "" {
		return s.combine(v, key, next)
	}
	types, ok := s.types(v)
	if !ok {
		return dead
	}
	if len(types) == 0 {
		return s.call(s.anyValue(), next)
	}
	all := dead
	for _, t := range types {
		all = s.either(all, s.typed(v, t, next))
	}
	return all
}

// combined is the keyword of v that refers to other schemas or values. It fails where
// there is a keyword that is not known, or that does not go with another.
func (s *schemas) combined(v *value) string {
	found := ""
	for _, key := range v.keys {
		_, known := keywords[key]
		_, is := combining[key]
		switch {
		case is && found != "":
			s.bad(ErrUnsupported, v, "%q beside %q", key, found)
		case is:
			found = key
		case !known && key != "type" && !slices.Contains(annotations, key):
			s.bad(ErrUnsupported, v, "keyword %.60q", key)
		}
	}
	if found == "" {
		return ""
	}
	for _, key := range v.keys {
		if _, known := keywords[key]; known || key == "type" && !combining[found] {
			s.bad(ErrUnsupported, v, "%q beside %q", key, found)
		}
	}
	return found
}

func (s *schemas) combine(v *value, key string, next int32) int32 {
	arg := v.get(key)
	switch key {
	case "$ref":
		target := s.resolve(arg)
		if target == nil {
			return dead
		}
		return s.call(s.schema(target), next)
	case "const":
		return s.values(v, []*value{arg}, next)
	}
	if arg.kind != kindArray || len(arg.items) == 0 {
		return s.bad(ErrSpec, arg, "%q must be a list with items", key)
	}
	switch key {
	case "enum":
		return s.values(v, arg.items, next)
	case "allOf":
		if len(arg.items) > 1 {
			return s.bad(ErrUnsupported, arg, `"allOf" of more than one schema`)
		}
	}
	all := dead
	for _, item := range arg.items {
		all = s.either(all, s.call(s.schema(item), next))
	}
	return all
}

// types are the types of values that v asks for: those that it names, else those that
// its keywords bound; none: all. It fails for a keyword without effect.
func (s *schemas) types(v *value) (types []string, ok bool) {
	if t := v.get("type"); t != nil {
		list := []*value{t}
		if t.kind == kindArray {
			list = t.items
		}
		for _, one := range list {
			if one.kind != kindString || !slices.Contains(typeNames, one.text) {
				s.bad(ErrSpec, t, "a type that is none of %s", strings.Join(typeNames, ", "))
				return nil, false
			}
			types = append(types, one.text)
		}
		if len(types) == 0 {
			s.bad(ErrSpec, t, "a list of types is empty")
			return nil, false
		}
	}
	named := types
	for _, key := range v.keys {
		of, is := keywords[key]
		if !is {
			continue
		}
		if named == nil {
			types = append(types, of[0])
		} else if !slices.ContainsFunc(of, func(t string) bool { return slices.Contains(named, t) }) {
			s.bad(ErrUnsupported, v, "%q, which has no effect on type %s", key, strings.Join(named, ", "))
			return nil, false
		}
	}
	slices.Sort(types)
	types = slices.Compact(types)
	if slices.Contains(types, "number") {
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
	}
	return types, true
}

// typed reads the values of one type that v asks for.
func (s *schemas) typed(v *value, t string, next int32) int32 {
	switch t {
	case "object":
		return s.object(v, next)
	case "array":
		return s.array(v, next)
	case "string":
		return s.string(v, next)
	case "number", "integer":
		return s.number(v, t == "integer", next)
	case "boolean":
		return s.either(s.text("true", next), s.text("false", next))
	}
	return s.text("null", next)
}

// whole is the argument of a keyword that counts; missing where there is none.
func (s *schemas) whole(v *value, key string, missing int) int {
	arg := v.get(key)
	if arg == nil {
		return missing
	}
	n, err := strconv.Atoi(arg.text)
	switch {
	case arg.kind != kindNumber || err != nil || n < 0:
		s.bad(ErrSpec, arg, "must be a whole number, not %.40s", arg.text)
	case n > maxCode:
		s.bad(ErrTooLarge, arg, "at most %d are counted", maxCode)
	}
	return n
}
