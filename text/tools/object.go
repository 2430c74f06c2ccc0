package tools

import "encoding/json"

// progress is what a byte has done to an object.
type progress uint8

const (
	more   progress = iota // it goes on
	done                   // it has ended
	broken                 // it is no JSON object with a name; the byte does not belong to it
)

// place is where in an object the next byte stands.
type place uint8

const (
	start    place = iota // before {
	firstKey              // before a key or }
	nextKey               // before a key
	inKey
	colon  // behind a key
	value  // before a value
	inside // a value
	behind // a value, before , or }
)

// object reads the JSON object of a call byte by byte. It follows brackets and strings
// alone: whether values are JSON otherwise is not its business.
type object struct {
	place   place
	depth   int  // of brackets in a value
	quoted  bool // in a string
	escaped bool // behind a backslash in it

	raw   []byte // the key, or the value that is read, where that is kept
	keep  bool   // the value is kept in raw
	first byte   // of the value
	key   string // of the value

	name      string
	named     bool
	arguments []byte // that were read and not taken yet
	argued    bool   // they have begun
}

// next reads a byte.
func (o *object) next(b byte) progress {
	switch o.place {
	case inKey:
		return o.readKey(b)
	case inside:
		return o.read(b)
	}
	if b == ' ' || b == '\t' || b == '\n' || b == '\r' {
		return more
	}
	switch {
	case o.place == start && b == '{':
		o.place = firstKey
	case (o.place == firstKey || o.place == nextKey) && b == '"':
		o.place, o.raw, o.quoted = inKey, append(o.raw[:0], b), true
	case (o.place == firstKey || o.place == behind) && b == '}':
		return done
	case o.place == colon && b == ':':
		o.place = value
	case o.place == behind && b == ',':
		o.place = nextKey
	case o.place == value && b != ',' && b != '}' && b != ']' && b != ':':
		return o.begin(b)
	default:
		return broken
	}
	return more
}

func (o *object) readKey(b byte) progress {
	o.raw = append(o.raw, b)
	o.follow(b)
	if !o.quoted {
		if json.Unmarshal(o.raw, &o.key) != nil {
			return broken
		}
		o.place = colon
	}
	return more
}

// follow keeps track of strings and brackets.
func (o *object) follow(b byte) {
	switch {
	case o.escaped:
		o.escaped = false
	case o.quoted:
		o.escaped, o.quoted = b == '\\', b != '"'
	case b == '"':
		o.quoted = true
	case b == '{' || b == '[':
		o.depth++
	case b == '}' || b == ']':
		o.depth--
	}
}

// isArguments says whether the value is that of the arguments.
func (o *object) isArguments() bool { return o.key == "arguments" || o.key == "parameters" }

// begin reads the first byte of a value.
func (o *object) begin(b byte) progress {
	again := o.key == "name" && o.named || o.isArguments() && o.argued
	if again || o.key == "name" && b != '"' {
		return broken
	}
	o.place, o.first, o.depth, o.raw = inside, b, 0, o.raw[:0]
	o.keep = o.key == "name" || o.isArguments() && b != '{'
	o.argued = o.argued || o.isArguments()
	return o.read(b)
}

// read reads a byte of a value.
func (o *object) read(b byte) progress {
	scalar := o.first != '"' && o.first != '{' && o.first != '['
	if scalar && (b == ',' || b == '}' || b == ' ' || b == '\t' || b == '\n' || b == '\r') {
		if !o.end() {
			return broken
		}
		return o.next(b)
	}
	if o.keep {
		o.raw = append(o.raw, b)
	} else if o.isArguments() {
		o.arguments = append(o.arguments, b)
	}
	o.follow(b)
	if !scalar && !o.quoted && o.depth <= 0 && !o.end() {
		return broken
	}
	return more
}

// end ends a value; ok is false for a name that is no string.
func (o *object) end() (ok bool) {
	o.place = behind
	switch {
	case o.key == "name":
		o.named = json.Unmarshal(o.raw, &o.name) == nil && o.name != ""
		return o.named
	case o.isArguments() && o.keep:
		o.arguments = unwrapped(o.raw)
	}
	return true
}

// unwrapped are arguments that are no object: JSON within a string, as some models write
// it, or anything else as it is.
func unwrapped(raw []byte) []byte {
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return append([]byte(nil), raw...)
}
