package grammar

import (
	"strconv"
	"strings"
)

// maxDigits is how many digits a bound of numbers has, before and behind its point.
const maxDigits = 64

// limit is a bound of numbers, without its sign.
type limit struct {
	whole, frac string // digits; "0" before the point where there is nothing, no zeros at the end behind it
	exclusive   bool
}

var zero = limit{whole: "0"}

func (l limit) isZero() bool { return l.whole == "0" && l.frac == "" }

// bound is a limit that a schema sets.
type bound struct {
	limit
	negative bool
}

// number reads a number within the bounds of v. One that has bounds has no exponent.
func (s *schemas) number(v *value, integer bool, next int32) int32 {
	least, ok := s.bound(v, "minimum", "exclusiveMinimum")
	if !ok {
		return dead
	}
	most, ok := s.bound(v, "maximum", "exclusiveMaximum")
	if !ok {
		return dead
	}
	switch {
	case least == nil && most == nil && integer:
		return s.call(s.anyInteger(), next)
	case least == nil && most == nil:
		return s.call(s.anyNumber(), next)
	}
	all := dead
	if most == nil || !most.negative { // from 0 on
		lo := &zero
		if least != nil && !least.negative {
			lo = &least.limit
		}
		all = s.magnitude(lo, upper(most), integer, next)
	}
	if least == nil || least.negative || least.isZero() { // below
		lo := &zero
		if most != nil && (most.negative || most.isZero()) {
			lo = &most.limit
		}
		all = s.either(all, s.text("-", s.magnitude(lo, upper(least), integer, next)))
	}
	return all
}

// upper is the limit of a bound; nil: none.
func upper(b *bound) *limit {
	if b == nil {
		return nil
	}
	return &b.limit
}

// bound is what one of two keywords sets; nil: neither is there.
func (s *schemas) bound(v *value, inclusive, exclusive string) (*bound, bool) {
	key := inclusive
	if v.get(exclusive) != nil {
		if v.get(inclusive) != nil {
			s.bad(ErrUnsupported, v, "%q beside %q", exclusive, inclusive)
			return nil, false
		}
		key = exclusive
	}
	arg := v.get(key)
	if arg == nil {
		return nil, true
	}
	l, negative, ok := decimal(arg)
	if !ok {
		s.bad(ErrSpec, arg, "a bound must be a number of at most %d digits, not %.80s", maxDigits, arg.text)
		return nil, false
	}
	l.exclusive = key == exclusive
	return &bound{l, negative && !l.isZero()}, true
}

// decimal is a number without exponent.
func decimal(v *value) (l limit, negative, ok bool) {
	if v.kind != kindNumber || len(v.text) > 4*maxDigits {
		return l, false, false
	}
	digits, negative := strings.CutPrefix(v.text, "-")
	digits, exponent, _ := strings.Cut(strings.ToLower(digits), "e")
	whole, frac, _ := strings.Cut(digits, ".")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil || shift > maxDigits || shift < -maxDigits {
			return l, false, false
		}
	}
	for ; shift > 0; shift-- {
		whole, frac = whole+(frac + "0")[:1], frac[min(1, len(frac)):]
	}
	for ; shift < 0; shift++ {
		whole, frac = ("0" + whole)[:len(whole)], ("0" + whole)[len(whole):]+frac
	}
	whole, frac = strings.TrimLeft(whole, "0"), strings.TrimRight(frac, "0")
	if whole == "" {
		whole = "0"
	}
	return limit{whole: whole, frac: frac}, negative, len(whole) <= maxDigits && len(frac) <= maxDigits
}
