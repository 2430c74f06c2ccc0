package text

import (
	"cmp"
	"slices"
	"sync"
	"unicode"
)

// classChange is what a class of characters has more or less than in Go's tables.
type classChange struct{ more, less *unicode.RangeTable }

var (
	letterTable = classTable("L")
	numberTable = classTable("N")
)

// wordTable is \w of Oniguruma, the engine that runs the patterns of Split steps.
var wordTable = sync.OnceValue(func() *unicode.RangeTable {
	return merged(append(wordParts(), changes["w"].more), changes["w"].less)
})

// wordCharTable is \w of Rust's regular expressions, which cut at Whitespace and tell
// single words: UTS 18, annex C, as of Unicode 16.
var wordCharTable = sync.OnceValue(func() *unicode.RangeTable {
	return merged(append(wordParts(), unicode.Join_Control, changes["word"].more), changes["word"].less)
})

func wordParts() []*unicode.RangeTable {
	return []*unicode.RangeTable{unicode.L, unicode.Other_Alphabetic, unicode.Nl, unicode.M, unicode.Nd, unicode.Pc}
}

// punctuation is what the Punctuation step cuts at.
var punctuation = sync.OnceValue(func() *unicode.RangeTable {
	asciiSymbols := &unicode.RangeTable{R16: []unicode.Range16{{Lo: '$', Hi: '$', Stride: 1}, {Lo: '+', Hi: '+', Stride: 1}, {Lo: '<', Hi: '>', Stride: 1}, {Lo: '^', Hi: '^', Stride: 1}, {Lo: '`', Hi: '`', Stride: 1}, {Lo: '|', Hi: '|', Stride: 1}, {Lo: '~', Hi: '~', Stride: 1}}}
	return merged([]*unicode.RangeTable{unicode.P, asciiSymbols, changes["punctuation"].more}, changes["punctuation"].less)
})

// accents is what StripAccents takes away.
var accents = sync.OnceValue(func() *unicode.RangeTable {
	return merged([]*unicode.RangeTable{unicode.M, changes["accent"].more}, changes["accent"].less)
})

// knownScripts are the scripts whose tables were compared with the reference's.
var knownScripts = []string{"Han", "Hiragana", "Katakana", "Hangul", "Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Thai", "Devanagari"}

// classTable is a category or a script by its name in a pattern, as the reference has
// it; nil: it is not known. All but those of what has no character are.
func classTable(name string) *unicode.RangeTable {
	if slices.Contains(knownScripts, name) {
		return merged([]*unicode.RangeTable{unicode.Scripts[name], changes[name].more}, changes[name].less)
	}
	table := unicode.Categories[name]
	if table == nil || len(name) > 2 || name[0] == 'C' && name != "Cc" && name != "Cf" && name != "Co" || name == "LC" {
		return nil
	}
	parts := []*unicode.RangeTable{table}
	for of, c := range changes { // a letter alone has all categories that start with it
		if of == name || len(name) == 1 && len(of) == 2 && of[0] == name[0] {
			parts = append(parts, c.more)
		}
	}
	return merged(parts, changes[name].less)
}

// merged is a table of what is in any of some tables and not in less. A nil table has
// nothing.
func merged(parts []*unicode.RangeTable, less *unicode.RangeTable) *unicode.RangeTable {
	var ranges [][2]rune
	for _, p := range parts {
		ranges = append(ranges, tableRanges(p)...)
	}
	slices.SortFunc(ranges, func(a, b [2]rune) int { return cmp.Compare(a[0], b[0]) })
	out := new(unicode.RangeTable)
	last := rune(-1) // of what is in out
	for _, r := range ranges {
		from := max(r[0], last+1)
		last = max(last, r[1])
		for _, hole := range append(tableRanges(less), [2]rune{unicode.MaxRune + 1, unicode.MaxRune + 1}) {
			if hole[1] < from {
				continue
			}
			appendRange(out, from, min(r[1], hole[0]-1))
			from = hole[1] + 1
		}
	}
	return out
}

// appendRange appends a range that may be empty, behind all that the table has.
func appendRange(t *unicode.RangeTable, low, high rune) {
	if low > high {
		return
	}
	if low <= 0xFFFF {
		end := min(high, 0xFFFF)
		t.R16 = append(t.R16, unicode.Range16{Lo: uint16(low), Hi: uint16(end), Stride: 1})
		if end <= unicode.MaxLatin1 {
			t.LatinOffset++
		}
		low = end + 1
	}
	if low <= high {
		t.R32 = append(t.R32, unicode.Range32{Lo: uint32(low), Hi: uint32(high), Stride: 1})
	}
}
