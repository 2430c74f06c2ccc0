package text

import (
	"slices"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
	"pgregory.net/rapid"
)

// scanPool has characters of every class and those that patterns name. It has
// none that regexp2, which uses Go's older tables and does not fold the long s,
// sees differently.
var scanPool = []rune("aZsStTmMdDrReEvVlL'''  \t\n\r\n09½²٣中éß.,!?<|>_-\u00a0\u2028\u3000\u0301\u200b\x00😀\u0085")

// TestScannersMatchThePatterns holds the hand-written scanners against a
// regular expression engine.
func TestScannersMatchThePatterns(t *testing.T) {
	for pattern := range coverAll {
		next := patterns[pattern]
		compiled := regexp2.MustCompile(pattern)
		t.Run(pattern[:12], rapid.MakeCheck(func(t *rapid.T) {
			s := string(rapid.SliceOfN(rapid.SampledFrom(scanPool), 1, 24).Draw(t, "s"))
			at, err := compiled.FindAllStringIndex(s, -1)
			if err != nil {
				t.Fatal(err)
			}
			done := 0
			for _, m := range at {
				if n := next(s[done:]); done != m[0] || done+n != m[1] {
					t.Fatalf("%+q from %d: %d bytes, want [%d, %d)", s, done, n, m[0], m[1])
				}
				done = m[1]
			}
			if done != len(s) {
				t.Fatalf("%+q: matches end at %d", s, done)
			}
		}))
	}
}

// Cases that the reference (tokenizers 0.23.3) was asked about.
func TestScannersOnOddCharacters(t *testing.T) {
	for _, c := range []struct {
		name string
		next func(string) int
		text string
		want []string
	}{
		{"long s folds", nextLlama3, "x'ſa", []string{"x", "'ſ", "a"}},
		{"upper case ending", nextLlama3, "x'LLa", []string{"x", "'LL", "a"}},
		{"ligature is a letter", nextLlama3, "'ﬆ", []string{"'ﬆ"}},
		{"line end in white space", nextLlama3, "a  \n \n  b", []string{"a", "  \n \n", " ", " b"}},
		{"three digits", nextLlama3, "12345", []string{"123", "45"}},
		{"one digit", nextQwen2, "12345", []string{"1", "2", "3", "4", "5"}},
		{"spaces go with the word", nextLlama3, "a   b", []string{"a", "  ", " b"}},
		{"next line is white space", nextGPT2, "\u0085x  \u0085\u0085 y", []string{"\u0085", "x", "  \u0085\u0085", " y"}},
		{"a letter of Unicode 15.1", nextGPT2, "\U0002EBF0ab", []string{"\U0002EBF0ab"}},
		{"digits of Unicode 16.0", nextGPT2, "\U00010D40\U00010D41a", []string{"\U00010D40\U00010D41", "a"}},
		{"digit by digit", each(isDigit), "a12b", []string{"a", "1", "2", "b"}},
		{"a digit of Unicode 17.0", each(isDigit), "a\U00011DE0b", []string{"a", "\U00011DE0", "b"}},
		{"no number of Unicode 16.0", each(isNumber), "a\U00011DE0b", []string{"a\U00011DE0b"}},
		{"runs of digits", runs(isDigit), "a12b3", []string{"a", "12", "b", "3"}},
	} {
		var got []string
		pipeline{{next: c.next}}.words(c.text, true, time.Now(), func(w string) { got = append(got, w) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+q, want %+q", c.name, got, c.want)
		}
	}
}

// The counts of Unicode 16.0, which are those of the reference's regex engine.
func TestClassesAreThoseOfUnicode16(t *testing.T) {
	letters, numbers := 0, 0
	for r := rune(0); r <= 0x10FFFF; r++ {
		if isLetter(r) {
			letters++
		}
		if isNumber(r) {
			numbers++
		}
	}
	if letters != 141028 || numbers != 1911 {
		t.Errorf("%d letters and %d numbers, want 141028 and 1911", letters, numbers)
	}
}
