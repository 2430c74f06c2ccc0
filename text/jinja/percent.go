package jinja

import (
	"strings"
)

// percenter runs format % values.
type percenter struct {
	run    *rendering
	format Text
	at     int
	values []Value
	single bool // the value is no tuple
	used   int
	names  *Dict // nil: the value is no mapping
	named  bool  // a name was used
}

// percent is t % v.
func (r *rendering) percent(t Text, v Value) Value {
	p := &percenter{run: r, format: t, single: true, values: []Value{v}}
	switch v := v.(type) {
	case *tuple:
		p.values, p.single = v.items, false
	case *Dict:
		p.names = v
	}
	b := builder{run: r, safe: t.safe}
	for p.at < len(t.s) {
		i := strings.IndexByte(t.s[p.at:], '%')
		if i < 0 {
			b.addPart(t, p.at, len(t.s))
			break
		}
		b.addPart(t, p.at, p.at+i)
		p.at += i + 1
		part := p.conversion()
		if t.safe {
			part = r.escape(part)
		}
		b.add(part)
	}
	if p.used < len(p.values) && !p.named && (p.names == nil || !p.single) {
		throw("TypeError", "not all arguments converted during string formatting")
	}
	return b.text()
}

// peek is the next character of the format.
func (p *percenter) peek() byte {
	if p.at >= len(p.format.s) {
		throw("ValueError", "incomplete format")
	}
	return p.format.s[p.at]
}

// conversion is what one of them, behind its %, stands for.
func (p *percenter) conversion() Text {
	spec := formatSpec{fill: Text{s: " "}, precision: -1, align: '>'}
	var named Value = absent{}
	if p.peek() == '(' {
		named = p.name()
	}
	p.flags(&spec)
	if spec.width = p.number(0); spec.width < 0 {
		spec.width, spec.align = -spec.width, '<'
	}
	if p.peek() == '.' {
		p.at++
		spec.precision = max(p.number(0), 0)
	}
	for strings.IndexByte("hlL", p.peek()) >= 0 {
		p.at++
	}
	verb := p.peek()
	p.at++
	if verb == '%' {
		return Text{s: "%"}
	}
	v := named
	if v == (absent{}) {
		v = p.next()
	}
	return p.write(spec, verb, v)
}

// name reads (name), which the value has to have.
func (p *percenter) name() Value {
	end := strings.IndexByte(p.format.s[p.at:], ')')
	if end < 0 {
		throw("ValueError", "incomplete format key")
	}
	name := p.format.s[p.at+1 : p.at+end]
	p.run.scan(len(name))
	p.at += end + 1
	if p.names == nil {
		throw("TypeError", "format requires a mapping")
	}
	v, ok := p.names.find(name)
	if !ok {
		throw("KeyError", "'%s'", name)
	}
	p.named = true
	return v
}

func (p *percenter) flags(spec *formatSpec) {
	for ; ; p.at++ {
		switch p.peek() {
		case '-':
			spec.align = '<'
		case '+':
			spec.sign = '+'
		case ' ':
			if spec.sign == 0 {
				spec.sign = ' '
			}
		case '#':
			spec.alternate = true
		case '0':
			spec.zero = true
		default:
			return
		}
	}
}

// number reads one, or takes it from the values for a star.
func (p *percenter) number(missing int) int {
	if p.peek() == '*' {
		p.at++
		return bound{name: "%", vals: []Value{p.next()}}.number(p.run, 0, 0)
	}
	rest := p.format.s[p.at:]
	n := takeNumber(&rest, missing)
	p.at = len(p.format.s) - len(rest)
	return n
}

// next is the next value.
func (p *percenter) next() Value {
	if p.used >= len(p.values) {
		throw("TypeError", "not enough arguments for format string")
	}
	p.used++
	return p.values[p.used-1]
}

// write writes a value as a conversion wants it.
func (p *percenter) write(spec formatSpec, verb byte, v Value) Text {
	switch verb {
	case 's':
		return spec.text(p.run, p.run.soft(v))
	case 'r', 'a':
		if t := p.run.repr(v); verb == 'r' || ascii(t.s) {
			return spec.text(p.run, t)
		}
		throwUnsupported("the conversion %%a of what is not ASCII")
	case 'c':
		if t, ok := v.(Text); ok && t.s != "" && runeLen(t.s) == len(t.s) {
			return spec.text(p.run, t)
		}
	}
	if !isNumber(v) {
		p.run.refuseUndefined(v)
		throw("TypeError", "%%%c format: a real number is required, not %s", verb, typeName(v))
	}
	if spec.zero && spec.align == '>' {
		spec.fill, spec.align = Text{s: "0"}, '='
	}
	spec.verb = verb
	switch verb {
	case 'd', 'i', 'u', 'x', 'X', 'o', 'c':
		return p.whole(spec, verb, v)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		f, _ := float(v)
		return spec.float(p.run, f)
	}
	throw("ValueError", "unsupported format character '%c'", verb)
	return Text{}
}

// whole writes a whole number, which has at least as many digits as the precision says.
func (p *percenter) whole(spec formatSpec, verb byte, v Value) Text {
	if f, ok := v.(float64); ok {
		if verb == 'x' || verb == 'X' || verb == 'o' || verb == 'c' {
			throw("TypeError", "%%%c format: an integer is required, not float", verb)
		}
		v = wholeOf(f)
	}
	if verb == 'i' || verb == 'u' {
		spec.verb = 'd'
	}
	if spec.precision > 0 {
		throwUnsupported("a precision of a whole number")
	}
	spec.precision = -1
	n, _ := integer(v)
	return spec.whole(p.run, n)
}
