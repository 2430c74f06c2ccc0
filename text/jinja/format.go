package jinja

import (
	"strconv"
	"strings"
)

// formatter runs str.format.
type formatter struct {
	run    *rendering
	args   []Value
	named  keywords
	next   int  // the field that {} is
	manual bool // fields have numbers
	auto   bool // fields have none
}

// format is t.format(…): fields in braces are replaced by arguments.
func (r *rendering) format(t Text, a bound) Value {
	f := &formatter{run: r, args: a.rest, named: r.keywords(a.names, a.kw)}
	return f.fill(t, 2)
}

// fill replaces the fields of a text; depth is how deep they may nest.
func (f *formatter) fill(t Text, depth int) Text {
	if depth == 0 {
		throw("ValueError", "Max string recursion exceeded")
	}
	b := builder{run: f.run, safe: t.safe}
	for at := 0; at < len(t.s); {
		i := strings.IndexAny(t.s[at:], "{}")
		if i < 0 {
			b.addPart(t, at, len(t.s))
			break
		}
		b.addPart(t, at, at+i)
		at += i
		if at+1 < len(t.s) && t.s[at+1] == t.s[at] {
			b.addPart(t, at, at+1)
			at += 2
			continue
		}
		if t.s[at] == '}' {
			throw("ValueError", "Single '}' encountered in format string")
		}
		end := fieldEnd(t.s, at)
		part := f.field(f.run.part(t, at+1, end), depth)
		if t.safe {
			part = f.run.escape(part)
		}
		b.add(part)
		at = end + 1
	}
	return b.text()
}

// fieldEnd is where the brace is that closes the one at s[at].
func fieldEnd(s string, at int) int {
	open := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	throw("ValueError", "expected '}' before end of string")
	return 0
}

// field is what name!conversion:specification stands for.
func (f *formatter) field(t Text, depth int) Text {
	f.run.scan(len(t.s))
	name, _, specified := strings.Cut(t.s, ":")
	at := len(name) + 1
	name, conversion, converts := strings.Cut(name, "!")
	v := f.value(name)
	if converts {
		switch conversion {
		case "r":
			v = f.run.repr(v)
		case "s":
			v = f.run.str(v)
		default:
			throwUnsupported("the conversion !%s of format", conversion)
		}
	}
	if specified && at < len(t.s) {
		return parseSpec(f.fill(f.run.part(t, at, len(t.s)), depth-1)).apply(f.run, v)
	}
	return f.run.soft(v)
}

// value is the argument that a field names, with its attributes and items.
func (f *formatter) value(name string) Value {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := f.argument(name[:end])
	for rest := name[end:]; rest != ""; {
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			v = f.run.attribute(v, rest[1:end])
			rest = rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 0 {
			throw("ValueError", "Missing ']' in format string")
		}
		v = f.run.item(v, keyOfField(rest[1:end]))
		rest = rest[end+1:]
	}
	return v
}

func keyOfField(s string) Value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	return Text{s: s}
}

// argument is the one with a number or a name; "": the next one.
func (f *formatter) argument(name string) Value {
	n, err := strconv.Atoi(name)
	switch {
	case name == "":
		n, f.auto = f.next, true
		f.next++
	case err == nil:
		f.manual = true
	default:
		if v, ok := f.named.find(name); ok {
			return v
		}
		throw("KeyError", "'%s'", name)
	}
	if f.auto && f.manual {
		throw("ValueError", "cannot switch from manual field specification to automatic field numbering")
	}
	if n < 0 || n >= len(f.args) {
		throw("IndexError", "Replacement index %d out of range for positional args tuple", n)
	}
	return f.args[n]
}
