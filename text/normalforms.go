package text

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longMarks is how many marks after a letter the norm package is trusted with.
// It puts U+034F between marks where there are more than 30 (Stream-Safe Text,
// UAX 15 section 13), each decomposed; the reference does not.
const longMarks = 8

// Unicode's Normalization Forms, as the reference has them: its tables are those of
// Unicode 9.0, to which later characters are inert.
func nfc(s string) string  { return normalForm(s, norm.NFC, norm.NFD) }
func nfd(s string) string  { return normalForm(s, norm.NFD, norm.NFD) }
func nfkc(s string) string { return normalForm(s, norm.NFKC, norm.NFKD) }
func nfkd(s string) string { return normalForm(s, norm.NFKD, norm.NFKD) }

// normalForm is s in a form, whose characters decompose as they do in another.
func normalForm(s string, form, parts norm.Form) string {
	if ascii(s) {
		return s
	}
	if !unusual(s) {
		return form.String(s)
	}
	runes := decompose(s, parts)
	if form != parts {
		runes = compose(runes)
	}
	return string(runes)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unusual says whether the norm package makes something else of s than the reference:
// it has more than longMarks marks in a row, or characters that are inert there.
func unusual(s string) bool {
	marks := 0
	for _, r := range s {
		if r < 0x300 {
			marks = 0
			continue
		}
		if unicode.Is(inert, r) {
			return true
		}
		if combiningClass(r) == 0 {
			marks = 0
		} else if marks++; marks > longMarks {
			return true
		}
	}
	return false
}

func combiningClass(r rune) uint8 {
	if r < 0x300 || unicode.Is(inert, r) {
		return 0
	}
	var b [utf8.UTFMax]byte
	return norm.NFD.Properties(b[:utf8.EncodeRune(b[:], r)]).CCC()
}

// decompose is s with every character decomposed by a form and marks in canonical
// order (the Unicode Standard, section 3.11, D109).
func decompose(s string, form norm.Form) []rune {
	var runes []rune
	for _, r := range s {
		if r < utf8.RuneSelf || unicode.Is(inert, r) {
			runes = append(runes, r)
			continue
		}
		runes = append(runes, []rune(form.String(string(r)))...)
	}
	for i := 0; i < len(runes); i++ {
		end := i
		for end < len(runes) && combiningClass(runes[end]) != 0 {
			end++
		}
		slices.SortStableFunc(runes[i:end], func(a, b rune) int {
			return int(combiningClass(a)) - int(combiningClass(b))
		})
		i = max(i, end)
	}
	return runes
}

// compose joins, in place, every starter with the characters after it that are
// not blocked (section 3.11, D117).
func compose(runes []rune) []rune {
	out := runes[:0]
	starter, last := -1, uint8(0) // index in out, class of the character before
	for _, r := range runes {
		class := combiningClass(r)
		adjacent := starter == len(out)-1
		if starter >= 0 && (adjacent || last < class && last != 0) {
			if both, ok := composite(out[starter], r); ok {
				out[starter] = both
				continue
			}
		}
		if class == 0 {
			starter = len(out)
		}
		last = class
		out = append(out, r)
	}
	return out
}

// composite is the one character that a and b make together, if there is one.
func composite(a, b rune) (rune, bool) {
	s := norm.NFC.String(string([]rune{a, b}))
	r, n := utf8.DecodeRuneInString(s)
	return r, n == len(s) && !unicode.Is(inert, r)
}
