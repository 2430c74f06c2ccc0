package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatSpec is how a value is to be written, of Python's format specification
// mini-language or of a % format.
type formatSpec struct {
	fill      Text
	align     byte // <, >, ^ or =; 0: as the type has it
	sign      byte // +, a space, or 0: only a minus
	alternate bool
	zero      bool
	width     int
	grouping  byte // a comma, an underscore, or 0
	precision int  // -1: not given
	verb      byte // 0: not given
}

// parseSpec reads [[fill]align][sign][#][0][width][,_][.precision][type].
func parseSpec(t Text) formatSpec {
	spec := formatSpec{fill: Text{s: " "}, precision: -1}
	s := t.s
	isAlign := func(i int) bool { return i < len(s) && strings.IndexByte("<>^=", s[i]) >= 0 }
	if n := runeLen(s); s != "" && isAlign(n) {
		spec.fill, spec.align = t.slice(0, n), s[n]
		s = s[n+1:]
	} else if isAlign(0) {
		spec.align = s[0]
		s = s[1:]
	}
	take := func(set string) byte {
		if s != "" && strings.IndexByte(set, s[0]) >= 0 {
			c := s[0]
			s = s[1:]
			return c
		}
		return 0
	}
	spec.sign = take("+- ")
	if spec.sign == '-' {
		spec.sign = 0
	}
	spec.alternate = take("#") != 0
	if spec.zero = take("0") != 0; spec.zero && spec.align == 0 {
		spec.fill, spec.align = Text{s: "0"}, '='
	}
	spec.width = takeNumber(&s, 0)
	spec.grouping = take(",_")
	if take(".") != 0 {
		if spec.precision = takeNumber(&s, -1); spec.precision < 0 {
			throw("ValueError", "Format specifier missing precision")
		}
	}
	spec.verb = take("bcdeEfFgGnosxX%")
	if s != "" {
		throw("ValueError", "Invalid format specifier '%s'", t.s)
	}
	if spec.verb == 'n' {
		throwUnsupported("the format 'n', of a locale")
	}
	return spec
}

// takeNumber takes a number off the front of s; missing: there is none.
func takeNumber(s *string, missing int) int {
	n := len(*s) - len(strings.TrimLeft(*s, "0123456789"))
	if n == 0 {
		return missing
	}
	value, err := strconv.ParseInt((*s)[:n], 10, 40)
	if err != nil {
		throw("ValueError", "Too many decimal digits in format string")
	}
	*s = (*s)[n:]
	return int(value)
}

// apply writes a value.
func (spec formatSpec) apply(r *rendering, v Value) Text {
	switch v := v.(type) {
	case Text:
		if spec.verb != 0 && spec.verb != 's' || spec.align == '=' || spec.sign != 0 || spec.grouping != 0 {
			throw("ValueError", "Unknown format code for object of type 'str'")
		}
		return spec.text(r, v)
	case float64:
		return spec.float(r, v)
	}
	n, ok := integer(v)
	switch {
	case !ok:
		r.refuseUndefined(v)
		throw("TypeError", "unsupported format string passed to %s.__format__", typeName(v))
	case strings.IndexByte("eEfFgG%", spec.verb) >= 0 && spec.verb != 0:
		f, _ := float(v)
		return spec.float(r, f)
	}
	return spec.whole(r, n)
}

// text cuts a text to the precision and pads it.
func (spec formatSpec) text(r *rendering, t Text) Text {
	if spec.precision >= 0 {
		t = r.slicedText(t, &slice{stop: int64(spec.precision)})
	}
	align := spec.align
	if align == 0 {
		align = '<'
	}
	return spec.centered(r, t, align)
}

// centered pads; the surplus of a text in the middle goes to its right.
func (spec formatSpec) centered(r *rendering, t Text, align byte) Text {
	n := spec.width - r.runes(t)
	left := map[byte]int{'<': 0, '>': n, '^': n / 2}[align]
	b := builder{run: r}
	b.fill(spec.fill, left)
	b.add(t.plain())
	b.fill(spec.fill, n-left)
	return b.text()
}

// whole writes a whole number.
func (spec formatSpec) whole(r *rendering, n *big.Int) Text {
	if spec.precision >= 0 {
		throw("ValueError", "Precision not allowed in integer format specifier")
	}
	base, prefix := 10, ""
	switch spec.verb {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x':
		base, prefix = 16, "0x"
	case 'X':
		base, prefix = 16, "0X"
	case 'c':
		return spec.text(r, Text{s: character(n)})
	case 's':
		throw("ValueError", "Unknown format code 's' for object of type 'int'")
	}
	if !spec.alternate {
		prefix = ""
	}
	digits := new(big.Int).Abs(n).Text(base)
	if spec.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	return spec.number(r, n.Sign() < 0, prefix, digits, "")
}

// character is the one with a code.
func character(n *big.Int) string {
	if !n.IsInt64() || n.Sign() < 0 || n.Int64() > utf8.MaxRune || !utf8.ValidRune(rune(n.Int64())) {
		throw("OverflowError", "%%c arg not in range(0x110000)")
	}
	return string(rune(n.Int64()))
}

// float writes a float.
func (spec formatSpec) float(r *rendering, f float64) Text {
	negative := math.Signbit(f) && !math.IsNaN(f)
	magnitude := math.Abs(f)
	verb, precision, suffix := spec.verb, spec.precision, ""
	var digits string
	switch verb {
	case 0:
		if precision >= 0 {
			throwUnsupported("a format of a float with a precision and no type")
		}
		digits = floatRepr(magnitude)
	case 'd', 'b', 'c', 'o', 'x', 'X', 's':
		throw("ValueError", "Unknown format code '%c' for object of type 'float'", verb)
	case '%':
		verb, magnitude, suffix = 'f', magnitude*100, "%"
	}
	if digits == "" {
		if precision < 0 {
			precision = 6
		}
		r.take(precision)
		digits = floatDigits(magnitude, verb, precision, spec.alternate)
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		spec.grouping = 0
	}
	whole, rest := digits, ""
	if i := strings.IndexAny(digits, ".eE"); i >= 0 && !math.IsInf(f, 0) && !math.IsNaN(f) {
		whole, rest = digits[:i], digits[i:]
	}
	return spec.number(r, negative, "", whole, rest+suffix)
}

// floatDigits is a float that is not negative as C writes it.
func floatDigits(f float64, verb byte, precision int, alternate bool) string {
	upper := verb == 'E' || verb == 'F' || verb == 'G'
	verb |= 0x20
	var s string
	switch {
	case math.IsInf(f, 0):
		s = "inf"
	case math.IsNaN(f):
		s = "nan"
	default:
		if verb == 'g' && precision == 0 {
			precision = 1
		}
		s = strconv.FormatFloat(f, verb, precision, 64)
		if alternate {
			throwUnsupported("the flag # of a float")
		}
	}
	if upper {
		s = strings.ToUpper(s)
	}
	return s
}

// number puts a number together: sign, prefix, zeros or padding, digits, the rest.
func (spec formatSpec) number(r *rendering, negative bool, prefix, digits, rest string) Text {
	switch {
	case negative:
		prefix = "-" + prefix
	case spec.sign != 0:
		prefix = string(rune(spec.sign)) + prefix
	}
	if spec.grouping != 0 {
		if spec.align == '=' && spec.fill.s == "0" {
			throwUnsupported("a format with zeros and groups of digits")
		}
		digits = grouped(digits, spec.grouping, spec.verb)
	}
	align := spec.align
	switch align {
	case 0:
		align = '>'
	case '=':
		b := builder{run: r}
		b.own(prefix)
		b.fill(spec.fill, spec.width-len(prefix)-len(digits)-len(rest))
		b.own(digits + rest)
		return b.text()
	}
	return spec.centered(r, Text{s: prefix + digits + rest}, align)
}

// grouped puts separators between thousands, or groups of four digits of other bases.
func grouped(digits string, separator, verb byte) string {
	size := 3
	if strings.IndexByte("boxX", verb) >= 0 && verb != 0 {
		size = 4
	}
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%size == 0 {
			b.WriteByte(separator)
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}
