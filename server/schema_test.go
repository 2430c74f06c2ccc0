package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"unicode"
)

// schemas makes JSON schemas of Go types.
type schemas struct {
	notes  map[string]string // of types and of fields, by "type" and "type.Field"
	strict bool              // an answer has nothing beside what is described
	made   object            // of structs, by their names
	names  map[kindOfUse]string
}

// kindOfUse is a type as a request has it or an answer: the one may leave out and put null
// where the other must not.
type kindOfUse struct {
	of    reflect.Type
	taken bool
}

func newSchemas(strict bool) *schemas {
	return &schemas{comments(), strict, object{}, map[kindOfUse]string{}}
}

// comments are those of the package's structs and their fields.
func comments() map[string]string {
	names, err := filepath.Glob("*.go")
	if err != nil {
		panic(err)
	}
	notes := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && len(d.Specs) == 1 {
				if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
					note(notes, s.Name.Name, d.Doc)
					noteFields(notes, s)
				}
			}
			return true
		})
	}
	return notes
}

func noteFields(notes map[string]string, s *ast.TypeSpec) {
	fields, ok := s.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range fields.Fields.List {
		for _, name := range f.Names {
			note(notes, s.Name.Name+"."+name.Name, f.Doc)
			note(notes, s.Name.Name+"."+name.Name, f.Comment)
		}
	}
}

func note(notes map[string]string, key string, c *ast.CommentGroup) {
	if c == nil {
		return
	}
	if words := strings.Join(strings.Fields(c.Text()), " "); words != "" {
		notes[key] = words
	}
}

// of is the schema of a type, as requests have it or answers.
func (s *schemas) of(t reflect.Type, taken bool) object {
	if own, ok := unions[t]; ok {
		return own
	}
	if other, ok := instead[t]; ok {
		return s.like(other, taken)
	}
	if strings.HasPrefix(t.Name(), "oneOrMany[") {
		one := s.of(t.Field(0).Type.Elem().Elem(), taken)
		return object{"anyOf": []object{one, {"type": "array", "items": nullable(one)}}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		if taken { // null is as if it were not there
			return s.of(t.Elem(), taken)
		}
		return nullable(s.of(t.Elem(), taken))
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if taken {
			most := int64(1)<<(t.Bits()-1) - 1
			return object{"type": "integer", "minimum": -most - 1, "maximum": most}
		}
		return object{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		items := s.of(t.Elem(), taken)
		if t.Elem().Kind() == reflect.Pointer {
			items = nullable(items)
		}
		return object{"type": "array", "items": items}
	case reflect.Map:
		values := s.of(t.Elem(), taken)
		if taken {
			values = nullable(values)
		}
		return object{"type": "object", "additionalProperties": values}
	case reflect.Struct:
		return s.structOf(t, taken)
	case reflect.Interface:
		return object{}
	}
	panic("no schema of " + t.String())
}

// either is a value of one of the types of these; nil stands for null.
type either []any

// like is the schema of values of the type that a value has.
func (s *schemas) like(v any, taken bool) object {
	several, ok := v.(either)
	if !ok {
		return s.of(reflect.TypeOf(v), taken)
	}
	var list []object
	for _, one := range several {
		if one == nil {
			list = append(list, object{"type": "null"})
		} else {
			list = append(list, s.of(reflect.TypeOf(one), taken))
		}
	}
	return object{"anyOf": list}
}

// structOf is a reference to the schema of a struct; one without a name is put in its place.
func (s *schemas) structOf(t reflect.Type, taken bool) object {
	use := kindOfUse{t, taken}
	if t.Name() == "" {
		return s.fields(t, taken)
	}
	name, done := s.names[use]
	if !done {
		name = exported(t.Name())
		if _, clash := s.names[kindOfUse{t, !taken}]; clash && taken {
			name += "Asked"
		} else if clash {
			name += "Told"
		}
		s.names[use] = name
		made := s.fields(t, taken)
		if words := s.notes[t.Name()]; words != "" {
			made["description"] = exported(words)
		}
		s.made[name] = made
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// fields is the schema of a struct by its fields, with those that are embedded.
func (s *schemas) fields(t reflect.Type, taken bool) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		one := s.field(t, f, name, taken)
		if must := needed[t.Name()+"."+name]; !taken && options == "" || must {
			required = append(required, name)
		} else if taken {
			one = nullable(one)
		}
		properties[name] = one
	}
	for name, instead := range refusedBeside[t.Name()] {
		if _, taken := properties[name]; taken {
			continue
		}
		properties[name] = object{"enum": []any{nil, false, 0, "", []any{}, object{}}, "description": "Not supported: " + instead + "."}
	}
	made := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		made["required"] = required
	}
	if s.strict && !taken {
		made["additionalProperties"] = false
	}
	return made
}

// field is the schema of a field, with its bounds and what its comment says.
func (s *schemas) field(t reflect.Type, f reflect.StructField, name string, taken bool) object {
	of, owner := f.Type, ownerOf(t, f).Name()
	if !taken && of.Kind() == reflect.Pointer && strings.Contains(f.Tag.Get("json"), ",omitzero") {
		of = of.Elem()
	}
	made := maps.Clone(s.of(of, taken))
	if is, known := variants[t.Name()+"."+name]; known {
		made = s.like(is, taken)
	}
	if b, bounded := bounds[name]; taken && bounded {
		made["minimum"], made["maximum"] = b.low, b.high
	}
	maps.Copy(made, limited[owner+"."+name])
	maps.Copy(made, limited[t.Name()+"."+name])
	if words := s.notes[owner+"."+f.Name]; words != "" {
		made["description"] = exported(words)
	}
	return made
}

// ownerOf is the struct that a field stands in, which may be embedded.
func ownerOf(t reflect.Type, f reflect.StructField) reflect.Type {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return t
}

// nullable is a schema of what may be null, too.
func nullable(of object) object {
	made := maps.Clone(of)
	switch kind := of["type"].(type) {
	case string:
		if kind == "null" {
			return of
		}
		if _, fixed := of["const"]; !fixed && of["enum"] == nil {
			made["type"] = []string{kind, "null"}
			return made
		}
	case []string, nil:
		if len(of) == 0 || kind != nil {
			return made
		}
	}
	return object{"anyOf": []object{of, {"type": "null"}}}
}

func exported(words string) string {
	return string(unicode.ToUpper(rune(words[0]))) + words[1:]
}
