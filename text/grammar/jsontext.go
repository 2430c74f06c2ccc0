package grammar

import (
	"fmt"
	"strings"
)

// maxIndent is how many spaces and tabs begin a line of a JSON text: ten levels of four.
// White space is bounded because models, small ones above all, go on with it for ever.
const maxIndent = 40

// Names of the rules that every JSON text may have.
type jsonRule uint8

const (
	ruleValue jsonRule = iota
	ruleObject
	ruleArray
	ruleString
	ruleCharacter
	ruleNumber
	ruleInteger
	ruleLayout
)

// layout reads the white space that stands behind what opens a value, behind a comma, and
// before what closes a value: none, a space, or a line end and an indentation.
func (b *builder) layout(next int32) int32 {
	if next == dead {
		return dead
	}
	return b.call(b.rule(ruleLayout, func(next int32) int32 {
		line := next
		for range maxIndent {
			line = b.either(b.oneOf(" \t", line), next)
		}
		line = b.text("\n", line)
		return b.either(next, b.text(" ", next), line, b.text("\r", line))
	}), next)
}

// anyValue is the rule of JSON values.
func (b *builder) anyValue() int32 {
	return b.rule(ruleValue, func(next int32) int32 {
		return b.either(
			b.call(b.anyObject(), next),
			b.call(b.anyArray(), next),
			b.call(b.anyString(), next),
			b.call(b.anyNumber(), next),
			b.text("true", next), b.text("false", next), b.text("null", next),
		)
	})
}

func (b *builder) anyObject() int32 {
	return b.rule(ruleObject, func(next int32) int32 {
		member := func(next int32) int32 {
			return b.call(b.anyString(), b.colon(b.call(b.anyValue(), next)))
		}
		return b.text("{", b.list(member, "}", next))
	})
}

func (b *builder) anyArray() int32 {
	return b.rule(ruleArray, func(next int32) int32 {
		item := func(next int32) int32 { return b.call(b.anyValue(), next) }
		return b.text("[", b.list(item, "]", next))
	})
}

// list reads any number of items between white space and commas, and what closes them.
func (b *builder) list(item func(next int32) int32, closing string, next int32) int32 {
	closed := b.text(closing, next)
	after := b.hole()
	begin := item(after)
	b.become(after, b.follow(begin, closed))
	return b.layout(b.either(begin, closed))
}

// follow reads what follows an item: a comma and the next, or what closes the list. Either
// may be dead.
func (b *builder) follow(item, closed int32) int32 {
	if item != dead {
		item = b.text(",", b.layout(item))
	}
	return b.either(item, b.layout(closed))
}

// colon reads a colon, with a space behind it or not.
func (b *builder) colon(next int32) int32 {
	return b.text(":", b.either(b.text(" ", next), next))
}

// anyString is the rule of JSON strings. Escapes of surrogates come in pairs.
func (b *builder) anyString() int32 {
	return b.rule(ruleString, func(next int32) int32 {
		return b.text(`"`, b.star(b.jsonCharacter, b.text(`"`, next)))
	})
}

// anyCharacter is the rule of one character of a JSON string.
func (b *builder) anyCharacter() int32 { return b.rule(ruleCharacter, b.jsonCharacter) }

func (b *builder) jsonCharacter(next int32) int32 {
	hex := func(digits ...string) func(next int32) int32 {
		return func(next int32) int32 {
			for i := len(digits) - 1; i >= 0; i-- {
				next = b.oneOf(digits[i], next)
			}
			return next
		}
	}
	const any = "0-9a-fA-F"
	plain := hex("0-9a-cA-CefEF", any, any, any)
	low := hex("dD", "0-7", any, any)
	first, second := hex("dD", "89abAB", any, any), hex("dD", "c-fC-F", any, any)
	pair := first(b.text(`\u`, second(next)))
	escape := b.text("u", b.either(plain(next), low(next), pair))
	return b.either(b.runes(plainJSON, next), b.text(`\`, b.either(b.oneOf(`"\/bfnrt`, next), escape)))
}

// oneOf reads one byte of a set, in which x-y is a range.
func (b *builder) oneOf(set string, next int32) int32 {
	at := dead
	for set != "" {
		lo, hi := set[0], set[0]
		set = set[1:]
		if len(set) > 1 && set[0] == '-' {
			hi, set = set[1], set[2:]
		}
		at = b.either(at, b.bytes(lo, hi, next))
	}
	return at
}

// JSON's numbers. Exponents have two digits at most, so that they can be read as float64.
const (
	numberSyntax  = `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?`
	integerSyntax = `-?(0|[1-9][0-9]*)`
)

func (b *builder) anyNumber() int32  { return b.syntax(ruleNumber, numberSyntax) }
func (b *builder) anyInteger() int32 { return b.syntax(ruleInteger, integerSyntax) }

// syntax is a rule that reads what an expression of this package matches.
func (b *builder) syntax(name any, source string) int32 {
	return b.rule(name, func(next int32) int32 {
		p, err := b.parsePattern(source)
		if err != nil {
			return b.fail(err)
		}
		return b.pattern(p, asText, counts{}, next)
	})
}

// plainJSON is what stands for itself in a JSON string.
var plainJSON = []rune{' ', '"' - 1, '"' + 1, '\\' - 1, '\\' + 1, 0x10FFFF}

// jsonRunes reads a character of a class in a JSON string: as it is, or by the escape
// that it needs.
func (b *builder) jsonRunes(class []rune, next int32) int32 {
	var plain []rune
	at := dead
	for i := 0; i+1 < len(class); i += 2 {
		for k := 0; k+1 < len(plainJSON); k += 2 {
			if lo, hi := max(class[i], plainJSON[k]), min(class[i+1], plainJSON[k+1]); lo <= hi {
				plain = append(plain, lo, hi)
			}
		}
		for r := class[i]; r <= min(class[i+1], '\\'); r++ {
			if r < ' ' || r == '"' || r == '\\' {
				at = b.either(at, b.escaped(r, next))
			}
		}
	}
	return b.either(b.runes(plain, next), at)
}

// shortEscapes are the letters of two-character escapes.
var shortEscapes = map[rune]string{'"': `"`, '\\': `\`, '\b': "b", '\f': "f", '\n': "n", '\r': "r", '\t': "t"}

func (b *builder) escaped(r rune, next int32) int32 {
	if letter, ok := shortEscapes[r]; ok {
		return b.text(`\`+letter, next)
	}
	digits := fmt.Sprintf("%04x", r)
	at := b.oneOf(digits[3:]+strings.ToUpper(digits[3:]), next)
	return b.text(`\u`+digits[:3], at)
}
