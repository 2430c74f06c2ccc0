package grammar

import (
	"fmt"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// Expressions, with all that is read of them.
var expressions = []string{
	`abc`, `a*`, `(a|b)*abb`, `a{2,4}`, `a{2,}b?`, `(ab|a)(bc|c)?`, `[a-c]+x`, `[^a]b`, `.b`, `(?s).b`, `(?i)aB`, `a||b`,
	`(a*)*b`, `(a|aa)+`, `^a$`, `^(a|b$)`, `a^b`, `(^a|b)c`, `(a$)?b*`, `x*(?:a|b){0,3}c`, `\d+-\w`, `é|中+`, `[é-中]`, `\x{1F600}a`,
	`\pL`, `a(bc){2}`, `()a`, `(|a)b`,
}

// some draws texts that the expressions are likely to match.
func some() *rapid.Generator[string] {
	letters := []string{"a", "b", "c", "x", "A", "B", "1", "-", "é", "中", "\n", "😀", "ab", "abb", "aa"}
	return rapid.Custom(func(t *rapid.T) string {
		s := ""
		for range rapid.IntRange(0, 6).Draw(t, "length") {
			s += rapid.SampledFrom(letters).Draw(t, "part")
		}
		return s
	})
}

func TestRegexReadsWhatRegexpMatches(t *testing.T) {
	v := letters()
	for _, e := range expressions {
		t.Run(e, func(t *testing.T) {
			whole, reads := regexp.MustCompile(`\A(?:`+e+`)\z`), reader(t, Spec{Regex: e}, v)
			rapid.Check(t, func(t *rapid.T) {
				s := some().Draw(t, "text")
				if got := reads(s); got != whole.MatchString(s) {
					t.Fatalf("%q: %t, regexp says otherwise", s, got)
				}
			})
		})
	}
}

// "pattern" of a schema is found anywhere in the string, and its length counts
// characters.
func TestPatternIsSearched(t *testing.T) {
	v := letters()
	for _, e := range expressions {
		t.Run(e, func(t *testing.T) {
			within := regexp.MustCompile(e)
			for _, n := range [][2]int{{0, 100}, {2, 4}} {
				reads := reader(t, schema(fmt.Sprintf(`{"type":"string","pattern":%q,"minLength":%d,"maxLength":%d}`, e, n[0], n[1])), v)
				rapid.Check(t, func(t *rapid.T) {
					s := some().Draw(t, "text")
					count := len([]rune(s))
					want := within.MatchString(s) && n[0] <= count && count <= n[1]
					if got := reads(quoted(s)); got != want {
						t.Fatalf("%q: %t, want %t", s, got, want)
					}
				})
			}
		})
	}
}
