package grammar

import (
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"unicode"
)

// patternBuilder emits parts as a builder does instructions. The tree that it follows
// is at most 1000 deep, by its parser.
type patternBuilder struct {
	parts   []part
	longest int               // bytes of a token
	same    map[*rune][]rune  // of a class of the tree, the first that is equal
	classes map[string][]rune // by their runes
	err     error
}

func newPatternBuilder() *patternBuilder {
	return &patternBuilder{parts: []part{failing: {}, matching: {kind: partMatch}}, same: make(map[*rune][]rune), classes: make(map[string][]rune)}
}

func (c *patternBuilder) add(p part) int32 {
	if len(c.parts) >= maxParts && c.err == nil {
		c.err = fmt.Errorf("%w: a pattern with more than %d characters and repetitions", ErrTooLarge, maxParts)
	}
	if c.err != nil {
		return failing
	}
	c.parts = append(c.parts, p)
	return int32(len(c.parts) - 1)
}

func (c *patternBuilder) read(class []rune, next int32) int32 {
	return c.add(part{kind: partRead, class: class, to: next})
}

// class is the one slice that stands for all classes with these runes.
func (c *patternBuilder) class(runes []rune) []rune {
	if len(runes) == 0 {
		return nil
	}
	first := &runes[0]
	class, known := c.same[first]
	if known {
		return class
	}
	name := make([]byte, 0, 4*len(runes))
	for _, r := range runes {
		name = binary.LittleEndian.AppendUint32(name, uint32(r))
	}
	if class, known = c.classes[string(name)]; !known {
		class, c.classes[string(name)] = runes, runes
	}
	c.same[first] = class
	return class
}

func (c *patternBuilder) any(next int32) int32 { return c.read(anyRune, next) }

func (c *patternBuilder) fork(to, alt int32) int32 {
	return c.add(part{kind: partFork, to: to, alt: alt})
}

// loop reads what body emits any number of times.
func (c *patternBuilder) loop(body func(next int32) int32, next int32) int32 {
	at := c.fork(failing, next)
	begin := body(at)
	if c.err == nil {
		c.parts[at].to = begin
	}
	return at
}

var (
	anyRune = []rune{0, unicode.MaxRune}
	anyInLn = []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
)

// emit is where a part of the tree begins that next follows.
func (c *patternBuilder) emit(re *syntax.Regexp, next int32) int32 {
	if c.err != nil {
		return failing
	}
	switch re.Op {
	case syntax.OpNoMatch:
		return failing
	case syntax.OpEmptyMatch:
		return next
	case syntax.OpLiteral:
		for i := len(re.Rune) - 1; i >= 0; i-- {
			next = c.read(spellings(re.Rune[i], re.Flags&syntax.FoldCase != 0), next)
		}
		return next
	case syntax.OpCharClass:
		return c.read(c.class(re.Rune), next)
	case syntax.OpAnyChar:
		return c.any(next)
	case syntax.OpAnyCharNotNL:
		return c.read(anyInLn, next)
	case syntax.OpBeginText:
		return c.add(part{kind: partBegin, to: next})
	case syntax.OpEndText:
		return c.add(part{kind: partEnd, to: next})
	case syntax.OpCapture:
		return c.emit(re.Sub[0], next)
	case syntax.OpConcat:
		for i := len(re.Sub) - 1; i >= 0; i-- {
			next = c.emit(re.Sub[i], next)
		}
		return next
	case syntax.OpAlternate:
		at := failing
		for _, sub := range re.Sub {
			at = c.fork(c.emit(sub, next), at)
		}
		return at
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return c.repeat(re, next)
	}
	if c.err == nil {
		c.err = fmt.Errorf("%w: pattern: %s", ErrUnsupported, opNames[re.Op])
	}
	return failing
}

// opNames are the parts of regular expressions that look around themselves.
var opNames = map[syntax.Op]string{
	syntax.OpBeginLine:      "a begin of lines (?m:^)",
	syntax.OpEndLine:        "an end of lines (?m:$)",
	syntax.OpWordBoundary:   `\b`,
	syntax.OpNoWordBoundary: `\B`,
}

// repeat emits a repetition.
func (c *patternBuilder) repeat(re *syntax.Regexp, next int32) int32 {
	least, most := re.Min, re.Max
	switch re.Op {
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	case syntax.OpQuest:
		least, most = 0, 1
	}
	body := func(next int32) int32 { return c.emit(re.Sub[0], next) }
	at := next
	if most < 0 {
		at = c.loop(body, next)
	}
	at = c.times(re, most-least, at, func(at int32) int32 { return c.fork(body(at), next) })
	return c.times(re, least, at, body)
}

// times emits a body so many times. Of characters, those that are further from the end
// than a token is long are alike.
func (c *patternBuilder) times(re *syntax.Regexp, n int, next int32, body func(next int32) int32) int32 {
	long := failing
	for k := 1; k <= n && c.err == nil; k++ {
		next = body(next)
		switch {
		case !isCharacter(re.Sub[0]):
		case k == c.longest:
			long = next
		case k > c.longest && c.err == nil:
			c.parts[next].like = long
		}
	}
	return next
}

// isCharacter says whether a part of the tree reads one character.
func isCharacter(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	}
	return re.Op == syntax.OpLiteral && len(re.Rune) == 1
}

// spellings is the class of a character, with those that are the same but for case.
func spellings(r rune, fold bool) []rune {
	class := []rune{r, r}
	if fold {
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			class = append(class, other, other)
		}
	}
	return class
}
