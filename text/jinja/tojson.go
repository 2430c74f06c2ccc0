package jinja

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonWriter writes JSON as Python's json.dumps does.
type jsonWriter struct {
	builder
	ascii    bool
	indent   Text // of one level
	pretty   bool // with line ends
	comma    Text
	colon    Text
	sortKeys bool
	level    int
}

// toJSON is the filter of Transformers, which escapes no HTML.
func (r *rendering) toJSON(v Value, a bound) Value {
	w := &jsonWriter{builder: builder{run: r}, ascii: a.flag(r, 0, false), sortKeys: a.flag(r, 3, false)}
	w.comma, w.colon = Text{s: ", "}, Text{s: ": "}
	switch indent := a.get(1, nil).(type) {
	case nil:
	case Text:
		w.pretty, w.indent = true, indent
	default:
		w.pretty, w.indent = true, r.repeatText(Text{s: " "}, max(a.number(r, 1, 0), 0))
	}
	if w.pretty {
		w.comma.s = ","
	}
	if separators := a.get(2, nil); separators != nil {
		w.separators(r.items(separators))
	}
	w.value(v)
	return w.text()
}

// separators sets what stands between items, and behind keys.
func (w *jsonWriter) separators(pair []Value) {
	if len(pair) == 2 {
		comma, okComma := pair[0].(Text)
		colon, okColon := pair[1].(Text)
		if okComma && okColon {
			w.comma, w.colon = comma, colon
			return
		}
	}
	throw("ValueError", "separators must be two strings")
}

func (w *jsonWriter) value(v Value) {
	w.run.enter()
	defer func() { w.run.depth-- }()
	switch v := v.(type) {
	case Text:
		w.quoted(v)
	case *List:
		w.list(v.items)
	case *tuple:
		w.list(v.items)
	case *Dict:
		w.dict(v)
	default:
		s, ok := jsonScalar(v)
		if !ok {
			throw("TypeError", "Object of type %s is not JSON serializable", typeName(v))
		}
		w.own(s)
	}
}

// jsonScalar is a value without parts as JSON; false: it is none.
func jsonScalar(v Value) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case *big.Int:
		return v.String(), true
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN", true
		case math.IsInf(v, 1):
			return "Infinity", true
		case math.IsInf(v, -1):
			return "-Infinity", true
		}
		return floatRepr(v), true
	}
	return "", false
}

// lineEnd begins a line at a depth.
func (w *jsonWriter) lineEnd(depth int) {
	if !w.pretty {
		return
	}
	w.own("\n")
	for range depth {
		w.add(w.indent)
	}
}

func (w *jsonWriter) list(items []Value) {
	if len(items) == 0 {
		w.own("[]")
		return
	}
	w.own("[")
	w.level++
	for i, x := range items {
		if i > 0 {
			w.add(w.comma)
		}
		w.lineEnd(w.level)
		w.value(x)
	}
	w.level--
	w.lineEnd(w.level)
	w.own("]")
}

func (w *jsonWriter) dict(d *Dict) {
	if d.Len() == 0 {
		w.own("{}")
		return
	}
	w.own("{")
	w.level++
	for i, k := range w.order(d) {
		if i > 0 {
			w.add(w.comma)
		}
		w.lineEnd(w.level)
		w.key(d.keys[k])
		w.add(w.colon)
		w.value(d.values[k])
	}
	w.level--
	w.lineEnd(w.level)
	w.own("}")
}

// order is the places of the keys in the order in which they are written.
func (w *jsonWriter) order(d *Dict) []int {
	places := make([]int, d.Len())
	for i := range places {
		places[i] = i
	}
	if w.sortKeys {
		slices.SortStableFunc(places, func(a, b int) int { return w.run.order("<", d.keys[a], d.keys[b]) })
	}
	return places
}

func (w *jsonWriter) key(k Value) {
	if t, ok := k.(Text); ok {
		w.quoted(t)
		return
	}
	s, ok := jsonScalar(k)
	if !ok {
		throw("TypeError", "keys must be str, int, float, bool or None, not %s", typeName(k))
	}
	w.own(`"` + s + `"`)
}

func (w *jsonWriter) quoted(t Text) {
	w.own(`"`)
	done := 0
	for i, c := range t.s {
		s := w.escape(c)
		if s == "" {
			continue
		}
		w.addPart(t, done, i)
		w.like(t, i, s)
		done = i + utf8.RuneLen(c)
	}
	w.addPart(t, done, len(t.s))
	w.own(`"`)
}

// escape is how a character is written that cannot stand for itself, else "".
func (w *jsonWriter) escape(c rune) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	}
	switch {
	case c < ' ' || w.ascii && c > '~' && c < 0x10000 && c != 0x7f:
		return fmt.Sprintf(`\u%04x`, c)
	case w.ascii && c >= 0x10000:
		high, low := utf16.EncodeRune(c)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return ""
}
