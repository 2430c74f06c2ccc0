package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
)

// pattern is a regular expression over characters: instructions like those of a
// program, before it is known how characters are spelled.
type pattern struct {
	parts []part
	start int32
}

// partKind says what a part does.
type partKind uint8

const (
	partFail  partKind = iota
	partMatch          // the end
	partRead           // reads a character of class, goes on at to
	partFork           // goes on at to and alt
	partBegin          // goes on at to where nothing was read
	partEnd            // goes on at to, where nothing more is read
)

type part struct {
	kind    partKind
	to, alt int32
	class   []rune // ranges, [lo, hi] one after the other, ascending
	like    int32  // a part from which every token goes on as from this one; failing: none is known
}

// maxParts is how many parts a pattern may have.
const maxParts = 1 << 16

// The first parts of every pattern.
const (
	failing int32 = iota
	matching
)

// parsePattern is the pattern that whole texts match. Errors: ErrSpec, ErrUnsupported,
// ErrTooLarge.
func (b *builder) parsePattern(source string) (*pattern, error) {
	return b.newPattern(source, false)
}

// searchPattern is the pattern of texts in which source is found, which is what a
// schema's "pattern" means.
func (b *builder) searchPattern(source string) (*pattern, error) {
	return b.newPattern(source, true)
}

func (b *builder) newPattern(source string, anywhere bool) (*pattern, error) {
	if len(source) > maxRegex {
		return nil, fmt.Errorf("%w: a pattern of %d bytes, at most %d are taken", ErrTooLarge, len(source), maxRegex)
	}
	tree, err := syntax.Parse(ecma(source), syntax.Perl)
	if err != nil {
		return nil, refused(err)
	}
	c := newPatternBuilder()
	c.longest = b.longest
	p := &pattern{}
	if anywhere {
		after := c.loop(c.any, matching)
		p.start = c.loop(c.any, c.emit(tree, after))
	} else {
		p.start = c.emit(tree, matching)
	}
	p.parts = c.parts
	return p, c.err
}

// refused says why a pattern does not parse, with the class of the reason.
func refused(err error) error {
	class := ErrSpec
	if e := (*syntax.Error)(nil); errors.As(err, &e) {
		switch e.Code {
		case syntax.ErrLarge, syntax.ErrNestingDepth, syntax.ErrInvalidRepeatSize:
			class = ErrTooLarge
		case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture, syntax.ErrInvalidEscape, syntax.ErrInvalidCharRange:
			class = ErrUnsupported // look-around, references back and the like
		}
		return fmt.Errorf("%w: pattern: %s in %.60q", class, e.Code, e.Expr)
	}
	return fmt.Errorf("%w: pattern: %.200s", class, err.Error())
}

// ecma is a pattern of ECMA-262 in RE2's syntax, as far as they spell the same things
// in different ways: \uXXXX is \x{XXXX}, and \/ is a slash.
func ecma(source string) string {
	var out strings.Builder
	for i := 0; i < len(source); i++ {
		rest := source[i:]
		switch {
		case len(rest) >= 6 && rest[:2] == `\u` && isHex(rest[2:6]):
			out.WriteString(`\x{` + rest[2:6] + `}`)
			i += 5
		case len(rest) >= 2 && rest[0] == '\\':
			out.WriteString(rest[:2])
			i++
		default:
			out.WriteByte(rest[0])
		}
	}
	return out.String()
}

func isHex(s string) bool {
	for i := range len(s) {
		if !strings.ContainsRune("0123456789abcdefABCDEF", rune(s[i])) {
			return false
		}
	}
	return true
}
