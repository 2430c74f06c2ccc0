package text

import (
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// patternTime is how long one match of a pattern may take. Patterns and texts come
// from strangers, and a search that goes back may never end.
const patternTime = 2 * time.Second

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
func (e *expression) find(s string) (spans []span, ok bool) {
	places, err := e.compiled.FindAllStringIndex(s, -1)
	if err != nil { // it took too long, or too much memory
		return nil, false
	}
	var f finding
	for _, p := range places {
		f.add(p[0], p[1])
	}
	f.upTo(len(s))
	return f.spans, true
}

// replace puts content in the place of every match.
func (e *expression) replace(s, content string) (replaced string, ok bool) {
	spans, ok := e.find(s)
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
