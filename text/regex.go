package text

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Patterns and texts come from strangers, and a search that goes back may never end.
const (
	patternTime  = 2 * time.Second      // for one match; and for all of a text together,
	patternsRate = 4 * time.Microsecond // besides this for each of its bytes: 0.3 is usual
)

// patternsEnd is until when the patterns of a tokenizer may run on a text.
func patternsEnd(text string) time.Time {
	return time.Now().Add(patternTime + time.Duration(len(text))*patternsRate)
}

// maxPattern is the size in bytes of the longest pattern that is read.
const maxPattern = 2048

// expression is a regular expression of a tokenizer.json.
type expression struct{ compiled *regexp2.Regexp }

// compile makes an expression from a pattern as Oniguruma, the engine of the
// reference, reads it. Errors: ErrUnsupported.
func compile(pattern string) (*expression, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("%w: a pattern of %d bytes", ErrUnsupported, len(pattern))
	}
	source, err := translate(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w: pattern %.300q: %w", ErrUnsupported, pattern, err)
	}
	compiled, err := regexp2.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("%w: pattern %.300q: %.100s", ErrUnsupported, pattern, err)
	}
	compiled.MatchTimeout = patternTime
	return &expression{compiled}, nil
}

// find is a finder of the matches.
func (e *expression) find(s string, until time.Time) (spans []span, ok bool) {
	var f finding
	runes, at := 0, 0 // of s, so far
	offset := func(rune int) int {
		for ; runes < rune; runes++ {
			_, n := utf8.DecodeRuneInString(s[at:])
			at += n
		}
		return at
	}
	ok = true
	err := e.compiled.FindRunesMatches([]rune(s), 0, func(m regexp2.MatchView) bool {
		from, length, _ := m.GroupRange(0)
		start := offset(from)
		f.add(start, offset(from+length))
		ok = time.Now().Before(until)
		return ok
	})
	if err != nil || !ok { // it took too long, or too much memory
		return nil, false
	}
	f.upTo(len(s))
	return f.spans, true
}

// replace puts content in the place of every match.
func (e *expression) replace(s, content string, until time.Time) (replaced string, ok bool) {
	spans, ok := e.find(s, until)
	if !ok {
		return "", false
	}
	var b strings.Builder
	for _, part := range spans {
		if part.found {
			b.WriteString(content)
		} else {
			b.WriteString(s[part.from:part.to])
		}
	}
	return b.String(), true
}
