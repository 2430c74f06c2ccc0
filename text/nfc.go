package text

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longMarks is how many marks after a letter the norm package is trusted with.
// It puts U+034F between marks where there are more than 30 (Stream-Safe Text,
// UAX 15 section 13), each decomposed; the reference does not.
const longMarks = 8

// nfc is s in Unicode's Normalization Form C.
func nfc(s string) string {
	if !hasLongMarks(s) {
		return norm.NFC.String(s)
	}
	runes := decompose(s)
	return string(compose(runes))
}

// hasLongMarks says whether s has more than longMarks marks in a row.
func hasLongMarks(s string) bool {
	marks := 0
	for _, r := range s {
		if combiningClass(r) == 0 {
			marks = 0
		} else if marks++; marks > longMarks {
			return true
		}
	}
	return false
}

func combiningClass(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	var b [utf8.UTFMax]byte
	return norm.NFD.Properties(b[:utf8.EncodeRune(b[:], r)]).CCC()
}

// decompose is s with every character decomposed and marks in canonical order
// (the Unicode Standard, section 3.11, D109).
func decompose(s string) []rune {
	var runes []rune
	for _, r := range s {
		if r < 0xC0 {
			runes = append(runes, r)
			continue
		}
		runes = append(runes, []rune(norm.NFD.String(string(r)))...)
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
	return r, n == len(s)
}
