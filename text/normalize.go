package text

import (
	"strings"
	"time"
	"unicode"
)

// normalizer changes a text before it is cut into words. ok is false when a pattern
// of the tokenizer did not come to an end on it in time.
type normalizer func(s string, until time.Time) (normal string, ok bool)

// plain is a normalizer that always comes to an end.
func plain(f func(string) string) normalizer {
	return func(s string, _ time.Time) (string, bool) { return f(s), true }
}

// normalizers are applied in their order.
type normalizers []normalizer

func (list normalizers) apply(s string, until time.Time) (normal string, ok bool) {
	for _, n := range list {
		if s, ok = n(s, until); !ok {
			return "", false
		}
	}
	return s, true
}

// prepend puts a text before one that is not empty.
func prepend(before string) func(string) string {
	return func(s string) string {
		if s == "" {
			return ""
		}
		return before + s
	}
}

// replaceAll puts new in the place of every old.
func replaceAll(old, new string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, old, new) }
}

// strip takes the white space away at the ends that are named.
func strip(left, right bool) func(string) string {
	return func(s string) string {
		if left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}
}

// lowercase is s in small letters, one by one: no letter depends on its neighbours.
func lowercase(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if low, ok := newLower[r]; ok {
			b.WriteRune(low)
		} else if b.WriteRune(unicode.ToLower(r)); r == 'İ' {
			b.WriteRune('\u0307')
		}
	}
	return b.String()
}

// stripAccents takes marks away.
func stripAccents(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(accents(), r) {
			return -1
		}
		return r
	}, s)
}
