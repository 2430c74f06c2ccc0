package jinja

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// str is str(v): what a template prints. It is not safe HTML any more.
func (r *rendering) str(v Value) Text {
	switch v := v.(type) {
	case Text:
		return v.plain()
	case *undefined:
		return Text{}
	}
	return r.repr(v)
}

// soft is str but for texts, which stay what they are.
func (r *rendering) soft(v Value) Text {
	if t, ok := v.(Text); ok {
		return t
	}
	return r.str(v)
}

// repr is repr(v): how v prints within a list.
func (r *rendering) repr(v Value) Text {
	if s, ok := scalarRepr(v); ok {
		r.take(len(s))
		return Text{s: s}
	}
	b := builder{run: r}
	r.writeRepr(&b, v)
	return b.text()
}

// scalarRepr is the repr of what has no parts and is no text.
func scalarRepr(v Value) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "None", true
	case bool:
		if v {
			return "True", true
		}
		return "False", true
	case int64:
		return strconv.FormatInt(v, 10), true
	case *big.Int:
		return v.String(), true
	case float64:
		return floatRepr(v), true
	case *undefined:
		return "Undefined", true
	case *span:
		if v.step == 1 {
			return fmt.Sprintf("range(%d, %d)", v.start, v.stop), true
		}
		return fmt.Sprintf("range(%d, %d, %d)", v.start, v.stop, v.step), true
	}
	return "", false
}

// floatRepr is the shortest text that reads back as f, as Python writes it.
func floatRepr(f float64) string {
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, ok := strings.Cut(s, "e")
	if !ok { // not finite
		return map[string]string{"+Inf": "inf", "-Inf": "-inf", "NaN": "nan"}[s]
	}
	if e, err := strconv.Atoi(exponent); err == nil && (e < -4 || e >= 16) {
		return fmt.Sprintf("%se%+03d", mantissa, e)
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func (r *rendering) writeRepr(b *builder, v Value) {
	r.enter()
	defer func() { r.depth-- }()
	if s, ok := scalarRepr(v); ok {
		b.own(s)
		return
	}
	switch v := v.(type) {
	case Text:
		if v.safe {
			b.own("Markup(")
		}
		writeQuoted(b, v)
		if v.safe {
			b.own(")")
		}
	case *List:
		r.writeItems(b, "[", v.items, "]")
	case *tuple:
		end := ")"
		if len(v.items) == 1 {
			end = ",)"
		}
		r.writeItems(b, "(", v.items, end)
	case *Dict:
		r.writeDict(b, v)
	case *view:
		b.own("dict_" + v.kind + "(")
		r.writeItems(b, "[", r.viewItems(v), "]")
		b.own(")")
	case *blocks:
		b.own("<TemplateReference None>")
	case *namespace:
		b.own("<Namespace ")
		r.writeDict(b, v.fields)
		b.own(">")
	default:
		throwUnsupported("the text of a %s: its address is not the same each time", typeName(v))
	}
}

func (r *rendering) writeItems(b *builder, open string, items []Value, end string) {
	b.own(open)
	for i, x := range items {
		if i > 0 {
			b.own(", ")
		}
		r.writeRepr(b, x)
	}
	b.own(end)
}

func (r *rendering) writeDict(b *builder, d *Dict) {
	b.own("{")
	for i, k := range d.keys {
		if i > 0 {
			b.own(", ")
		}
		r.writeRepr(b, k)
		b.own(": ")
		r.writeRepr(b, d.values[i])
	}
	b.own("}")
}

// writeQuoted is the repr of a string: in single quotes, or in double ones where it
// has single ones only.
func writeQuoted(b *builder, t Text) {
	quote := "'"
	if strings.Contains(t.s, "'") && !strings.Contains(t.s, `"`) {
		quote = `"`
	}
	b.own(quote)
	for i, c := range t.s {
		b.like(t, i, quotedRune(c, quote))
	}
	b.own(quote)
}

func quotedRune(c rune, quote string) string {
	switch {
	case c == '\\' || string(c) == quote:
		return `\` + string(c)
	case c == '\n':
		return `\n`
	case c == '\r':
		return `\r`
	case c == '\t':
		return `\t`
	case c < ' ' || c == 0x7f:
		return fmt.Sprintf(`\x%02x`, c)
	case c < 0x7f || isPrintable(c):
		return string(c)
	}
	return `\` + codePoint(c)
}

// isPrintable is Python's str.isprintable for one character.
func isPrintable(c rune) bool {
	return c == ' ' || unicode.IsPrint(c)
}

// isSpace is Python's str.isspace for one character.
func isSpace(c rune) bool {
	return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f
}
