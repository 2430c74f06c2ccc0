//go:build ignore

// Command classes prints the classes of characters that Go's tables know, and what its
// tables of norms make of every character, as JSON for make_unicode16.py.
package main

import (
	"encoding/json"
	"os"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var scripts = []string{"Han", "Hiragana", "Katakana", "Hangul", "Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Thai", "Devanagari"}

func main() {
	classes := make(map[string][]rune)
	lower, nfkd, ccc := make(map[rune]string), make(map[rune]string), make(map[rune]uint8)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r <= 0xDFFF {
			continue
		}
		for name, table := range unicode.Categories {
			if len(name) == 2 && unicode.Is(table, r) {
				classes[name] = append(classes[name], r)
			}
		}
		for _, name := range scripts {
			if unicode.Is(unicode.Scripts[name], r) {
				classes[name] = append(classes[name], r)
			}
		}
		if unicode.In(r, unicode.L, unicode.Other_Alphabetic, unicode.Nl, unicode.M, unicode.Nd, unicode.Pc) {
			classes["w"] = append(classes["w"], r)
		}
		if unicode.In(r, unicode.L, unicode.Other_Alphabetic, unicode.Nl, unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control) {
			classes["word"] = append(classes["word"], r)
		}
		if unicode.IsPunct(r) || r < 0x80 && unicode.In(r, unicode.P, unicode.S) {
			classes["punctuation"] = append(classes["punctuation"], r)
		}
		if unicode.Is(unicode.M, r) {
			classes["accent"] = append(classes["accent"], r)
		}
		if s := string(unicode.ToLower(r)); s != string(r) {
			lower[r] = s
		}
		if s := norm.NFKD.String(string(r)); s != string(r) {
			nfkd[r] = s
		}
		if c := norm.NFD.PropertiesString(string(r)).CCC(); c != 0 {
			ccc[r] = c
		}
	}
	out := map[string]any{"classes": classes, "lower": lower, "nfkd": nfkd, "ccc": ccc}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
