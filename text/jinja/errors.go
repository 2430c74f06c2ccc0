package jinja

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Errors of this package, wrapped with what was found. Test with errors.Is.
var (
	// ErrSyntax: the source is no template.
	ErrSyntax = errors.New("the template does not parse")

	// ErrUnsupported: the template uses something that is left out here.
	ErrUnsupported = errors.New("the template uses what is not supported")

	// ErrLimit: a rendering was stopped; the limit is named.
	ErrLimit = errors.New("the template was stopped")

	// ErrRaised: the template failed as it would with jinja2, by raise_exception or
	// by an error of the language.
	ErrRaised = errors.New("the template raised an error")
)

// failure is what is panicked with inside of the package, and recovered by Parse and
// Render: an interpreter fails at any depth, and every return would have to say so.
type failure struct{ err error }

// throw fails as Python does with an exception of this kind.
func throw(kind, format string, args ...any) {
	panic(failure{fmt.Errorf("%w: %s: %s", ErrRaised, kind, oneLine(fmt.Sprintf(format, args...)))})
}

func throwSyntax(line int, format string, args ...any) {
	panic(failure{fmt.Errorf("%w: line %d: %s", ErrSyntax, line, oneLine(fmt.Sprintf(format, args...)))})
}

func throwUnsupported(format string, args ...any) {
	panic(failure{fmt.Errorf("%w: %s", ErrUnsupported, oneLine(fmt.Sprintf(format, args...)))})
}

// caught turns what was recovered into an error. Anything but a failure is a mistake
// of this package, which must not end the process.
func caught(p any) error {
	if f, ok := p.(failure); ok {
		return f.err
	}
	return fmt.Errorf("%w: %s", ErrUnsupported, oneLine(fmt.Sprint(p)))
}

// oneLine is a message on one line that is not too long.
func oneLine(message string) string {
	const limit = 500
	if len(message) > 8*limit {
		message = message[:8*limit]
	}
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > limit {
		end := limit
		for end > 0 && !utf8.RuneStart(message[end]) {
			end--
		}
		message = message[:end] + "…"
	}
	return strings.ToValidUTF8(message, "")
}
