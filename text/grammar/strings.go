package grammar

import "fmt"

// formats are the formats of strings that are known, as expressions that they match:
// those that OpenAI's structured outputs know. Dates are of the calendar's shape, with
// up to 31 days in 31-day months, 30 in the others and 28 in February.
var formats = map[string]string{
	"date":      dateSyntax,
	"time":      timeSyntax,
	"date-time": dateSyntax + `T` + timeSyntax,
	"duration":  `P([0-9]{1,9}W|(([0-9]{1,9}Y([0-9]{1,9}M([0-9]{1,9}D)?)?|[0-9]{1,9}M([0-9]{1,9}D)?|[0-9]{1,9}D)(T(` + clockSyntax + `))?|T(` + clockSyntax + `)))`,
	"email":     `[A-Za-z0-9_+-]{1,32}(\.[A-Za-z0-9_+-]{1,16}){0,1}@` + hostSyntax,
	"hostname":  hostSyntax,
	"ipv4":      `(` + octetSyntax + `\.){3}` + octetSyntax,
	"ipv6":      `([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}`,
	"uuid":      `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`,
}

const (
	dateSyntax  = `[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))`
	timeSyntax  = `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`
	clockSyntax = `[0-9]{1,9}H([0-9]{1,9}M([0-9]{1,9}S)?)?|[0-9]{1,9}M([0-9]{1,9}S)?|[0-9]{1,9}S`
	octetSyntax = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	hostSyntax  = `[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?){0,3}`
)

// string reads a string with the length, the pattern or the format that v asks for.
func (s *schemas) string(v *value, next int32) int32 {
	n := counts{least: s.whole(v, "minLength", 0), most: s.whole(v, "maxLength", -1)}
	n.limited = n.most >= 0
	if s.err != nil {
		return dead
	}
	expression, format := v.get("pattern"), v.get("format")
	switch {
	case expression != nil && format != nil:
		return s.bad(ErrUnsupported, v, `"format" beside "pattern"`)
	case expression == nil && format == nil && n == counts{most: -1}:
		return s.call(s.anyString(), next)
	}
	closed := s.text(`"`, next)
	switch {
	case expression != nil:
		if expression.kind != kindString {
			return s.bad(ErrSpec, expression, "must be a string")
		}
		p, err := s.searchPattern(expression.text)
		if err != nil {
			return s.fail(fmt.Errorf("%w at %s", err, expression.path()))
		}
		return s.text(`"`, s.pattern(p, asJSON, n, closed))
	case format != nil:
		source, known := formats[format.text]
		if !known {
			return s.bad(ErrUnsupported, format, "format %.40q", format.text)
		}
		p, err := s.parsePattern(source)
		if err != nil {
			return s.fail(err)
		}
		return s.text(`"`, s.pattern(p, asJSON, n, closed))
	}
	return s.text(`"`, s.characters(n, closed))
}

// characters reads so many of any.
func (s *schemas) characters(n counts, next int32) int32 {
	at := next
	if !n.limited {
		at = s.star(func(next int32) int32 { return s.call(s.anyCharacter(), next) }, next)
	}
	if n.limited && n.most < n.least {
		return dead
	}
	at = s.repeat(n.most-n.least, at, func(at int32) int32 { return s.either(s.call(s.anyCharacter(), at), next) })
	return s.repeat(n.least, at, func(at int32) int32 { return s.call(s.anyCharacter(), at) })
}

// repeat emits a body that reads a character, with what follows it, so many times.
func (b *builder) repeat(times int, next int32, body func(next int32) int32) int32 {
	long := dead // where as many are left as a token has bytes
	for k := 1; k <= times && b.err == nil; k++ {
		next = body(next)
		switch {
		case k == b.longest:
			long = next
		case k > b.longest:
			b.like[next] = long
		}
	}
	return next
}
