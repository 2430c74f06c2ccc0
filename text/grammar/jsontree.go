package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxDepth is how deep a schema nests.
const maxDepth = 100

// kind is the type of a JSON value, by its name in schemas.
type kind string

const (
	kindObject kind = "object"
	kindArray  kind = "array"
	kindString kind = "string"
	kindNumber kind = "number"
	kindBool   kind = "boolean"
	kindNull   kind = "null"
)

// value is a JSON value with its objects in order, which encoding/json does not keep.
type value struct {
	kind  kind
	text  string   // of strings; of numbers, as they are written
	yes   bool     // of booleans
	keys  []string // of objects
	items []*value // of objects and arrays
	up    *value
	name  string // in up
}

// get is the member of an object; nil: it has none.
func (v *value) get(key string) *value {
	for i, k := range v.keys {
		if k == key {
			return v.items[i]
		}
	}
	return nil
}

// path is where v stands, as a JSON pointer.
func (v *value) path() string {
	var names []string
	for ; v.up != nil; v = v.up {
		names = append([]string{strings.NewReplacer("~", "~0", "/", "~1").Replace(v.name)}, names...)
	}
	return fmt.Sprintf("%.200q", "#/"+strings.Join(names, "/"))
}

// parseJSON reads a JSON text in UTF-8: one value, no key twice, at most maxDepth deep.
// Errors: ErrSpec, ErrTooLarge.
func parseJSON(source []byte) (*value, error) {
	if len(source) > maxSchema {
		return nil, fmt.Errorf("%w: a schema of %d bytes, at most %d are taken", ErrTooLarge, len(source), maxSchema)
	}
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	root := &value{}
	if err := root.read(d, 0); err != nil {
		if errors.Is(err, ErrSpec) || errors.Is(err, ErrTooLarge) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: the schema is no JSON: %.200s", ErrSpec, err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something follows the schema", ErrSpec)
	}
	return root, nil
}

// read reads the next value.
func (v *value) read(d *json.Decoder, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: the schema nests more than %d deep", ErrTooLarge, maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return v.readItems(d, t, depth)
	case string:
		v.kind, v.text = kindString, t
	case json.Number:
		v.kind, v.text = kindNumber, t.String()
	case bool:
		v.kind, v.yes = kindBool, t
	default:
		v.kind = kindNull
	}
	return nil
}

// readItems reads an object or an array behind what opens it.
func (v *value) readItems(d *json.Decoder, opening json.Delim, depth int) error {
	v.kind = kindArray
	if opening == '{' {
		v.kind = kindObject
	}
	known := make(map[string]bool)
	for d.More() {
		item := &value{up: v, name: strconv.Itoa(len(v.items))}
		if v.kind == kindObject {
			key, err := d.Token()
			if err != nil {
				return err
			}
			item.name, _ = key.(string) // the decoder gives nothing else here
			if known[item.name] {
				return fmt.Errorf("%w: a key is there twice: %s", ErrSpec, item.path())
			}
			known[item.name] = true
			v.keys = append(v.keys, item.name)
		}
		if err := item.read(d, depth+1); err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	_, err := d.Token() // what closes it
	return err
}

// quoted is a string as JSON writes it, in the shortest way.
func quoted(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch letter, short := shortEscapes[r]; {
		case short:
			out.WriteString(`\` + letter)
		case r < ' ':
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
