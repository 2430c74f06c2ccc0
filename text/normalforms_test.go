package text

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// The own composition must be that of the norm package wherever that package
// puts nothing in between.
func TestComposeMatchesNorm(t *testing.T) {
	pool := []rune("aeouAqΩا한각각ᆩ中\u0300\u0301\u0302\u0308\u0323\u0327\u0331\u0338\u0345\u0344\u1e69\u1e9b\u0b47\u0b3e\u0f71\u0f72\u09c7\u09be\u212b\u2126\ufb1d\U0001d15e\U0001109a\U000110ba")
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.SampledFrom(pool), 0, 12).Draw(t, "s"))
		if got, want := string(compose(decompose(s, norm.NFD))), norm.NFC.String(s); got != want {
			t.Fatalf("%+q: %+q, want %+q", s, got, want)
		}
	})
}

func TestNFCInsertsNothingBetweenManyMarks(t *testing.T) {
	s := "a" + strings.Repeat("\u0323\u0301", 60)
	want := "\u1ea1" + strings.Repeat("\u0323", 59) + strings.Repeat("\u0301", 60)
	if got := nfc(s); got != want {
		t.Errorf("%+q, want %+q", got, want)
	}
}
