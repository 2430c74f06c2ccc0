package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// caseChange is what becomes of the character c at s[i:].
type caseChange func(l *letters, s string, i int, c rune) string

// caseChanges are the methods of strings that change letters.
var caseChanges = map[string]caseChange{
	"upper":    func(l *letters, _ string, _ int, c rune) string { return l.upper(c) },
	"lower":    (*letters).lowerAt,
	"casefold": func(l *letters, _ string, _ int, c rune) string { return l.fold(c) },
	"capitalize": func(l *letters, s string, i int, c rune) string {
		if i == 0 {
			return l.title(c)
		}
		return l.lowerAt(s, i, c)
	},
	"title": func(l *letters, s string, i int, c rune) string {
		if before, _ := utf8.DecodeLastRuneInString(s[:i]); i == 0 || !isCased(before) {
			return l.title(c)
		}
		return l.lowerAt(s, i, c)
	},
	"swapcase": func(l *letters, s string, i int, c rune) string {
		switch {
		case unicode.IsUpper(c):
			return l.lowerAt(s, i, c)
		case unicode.IsLower(c):
			return l.upper(c)
		}
		return string(c)
	},
}

// wordTitle is the filter title: it begins a word behind white space and some brackets.
func wordTitle(l *letters, s string, i int, c rune) string {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if i == 0 || isSpace(before) || strings.ContainsRune("-({[<", before) {
		return l.upper(c)
	}
	return l.lowerAt(s, i, c)
}

// changeCase is a text with each of its characters changed.
func (r *rendering) changeCase(t Text, change caseChange) Text {
	l := &letters{}
	b := builder{run: r, safe: t.safe}
	for i, c := range t.s {
		b.like(t, i, change(l, t.s, i, c))
	}
	return b.text()
}

// letters maps characters by Unicode's full case mappings, which may give several.
type letters struct {
	upperCase, lowerCase, titleCase, folded *cases.Caser // made when needed: they are not safe for concurrent use
}

func mapped(caser **cases.Caser, make func() cases.Caser, c rune) string {
	if *caser == nil {
		made := make()
		*caser = &made
	}
	return (*caser).String(string(c))
}

func (l *letters) upper(c rune) string {
	if c < utf8.RuneSelf {
		return string(unicode.ToUpper(c))
	}
	return mapped(&l.upperCase, func() cases.Caser { return cases.Upper(language.Und) }, c)
}

func (l *letters) title(c rune) string {
	if c < utf8.RuneSelf {
		return string(unicode.ToUpper(c))
	}
	return mapped(&l.titleCase, func() cases.Caser { return cases.Title(language.Und, cases.NoLower) }, c)
}

func (l *letters) fold(c rune) string {
	if c < utf8.RuneSelf {
		return string(unicode.ToLower(c))
	}
	return mapped(&l.folded, func() cases.Caser { return cases.Fold() }, c)
}

// lowerAt knows the sigma at the end of a word.
func (l *letters) lowerAt(s string, i int, c rune) string {
	switch {
	case c < utf8.RuneSelf:
		return string(unicode.ToLower(c))
	case c != 'Σ':
		return mapped(&l.lowerCase, func() cases.Caser { return cases.Lower(language.Und) }, c)
	}
	before := strings.TrimRightFunc(s[:i], isCaseIgnorable)
	behind := strings.TrimLeftFunc(s[i+len("Σ"):], isCaseIgnorable)
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(behind)
	if before != "" && isCased(last) && (behind == "" || !isCased(next)) {
		return "ς"
	}
	return "σ"
}

func isCased(c rune) bool {
	return unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c) || unicode.In(c, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable is the property of that name (Unicode Standard, section 3.13).
func isCaseIgnorable(c rune) bool {
	return strings.ContainsRune("'.:·’‘․‧︓﹒﹕＇．：", c) || unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// classMethods are methods of strings that tell what they consist of.
func classMethods() methods {
	m := make(methods)
	every := func(is func(rune) bool) func(string) bool {
		return func(s string) bool {
			return s != "" && strings.IndexFunc(s, func(c rune) bool { return !is(c) }) < 0
		}
	}
	for name, is := range map[string]func(string) bool{
		"isalpha":     every(unicode.IsLetter),
		"isdecimal":   every(isDecimal),
		"isdigit":     every(isDigit),
		"isalnum":     every(func(c rune) bool { return unicode.IsLetter(c) || isDigit(c) || unicode.IsNumber(c) }),
		"isspace":     every(isSpace),
		"isascii":     ascii,
		"isprintable": func(s string) bool { return s == "" || every(isPrintable)(s) },
		"isupper":     func(s string) bool { return hasCaseOnly(s, unicode.IsUpper) },
		"islower":     func(s string) bool { return hasCaseOnly(s, unicode.IsLower) },
		"istitle":     isTitle,
	} {
		m[name] = &methodCode{sig(""), func(r *rendering, self Value, _ bound) Value {
			s := self.(Text).s
			r.scan(len(s))
			return is(s)
		}}
	}
	return m
}

func isDecimal(c rune) bool { return unicode.Is(unicode.Nd, c) }

// digitsBeyond are the characters with the numeric type Digit that are no decimal
// digits (Unicode Character Database, DerivedNumericType).
var digitsBeyond = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xb2, 0xb3, 1}, {0xb9, 0xb9, 1}, {0x1369, 0x1371, 1}, {0x19da, 0x19da, 1}, {0x2070, 0x2070, 1}, {0x2074, 0x2079, 1},
		{0x2080, 0x2089, 1}, {0x2460, 0x2468, 1}, {0x2474, 0x247c, 1}, {0x2488, 0x2490, 1}, {0x24ea, 0x24ea, 1},
		{0x24f5, 0x24fd, 1}, {0x24ff, 0x24ff, 1}, {0x2776, 0x277e, 1}, {0x2780, 0x2788, 1}, {0x278a, 0x2792, 1},
	},
	R32: []unicode.Range32{{0x10a40, 0x10a43, 1}, {0x10e60, 0x10e68, 1}, {0x11052, 0x1105a, 1}, {0x1f100, 0x1f10a, 1}},
}

func isDigit(c rune) bool { return isDecimal(c) || unicode.Is(digitsBeyond, c) }

// hasCaseOnly says whether a text has cased characters, all of one case.
func hasCaseOnly(s string, is func(rune) bool) bool {
	found := false
	for _, c := range s {
		if isCased(c) {
			if !is(c) {
				return false
			}
			found = true
		}
	}
	return found
}

func isTitle(s string) bool {
	found, inWord := false, false
	for _, c := range s {
		switch {
		case unicode.IsUpper(c) || unicode.IsTitle(c):
			if inWord {
				return false
			}
			found, inWord = true, true
		case isCased(c):
			if !inWord {
				return false
			}
		default:
			inWord = false
		}
	}
	return found
}
