package grammar

import "errors"

// Errors of this package, wrapped with what was found. Test with errors.Is.
var (
	// ErrSpec: what is asked for is malformed or contradicts itself.
	ErrSpec = errors.New("bad grammar")

	// ErrUnsupported: it uses something that is not known here, which is named.
	ErrUnsupported = errors.New("the grammar is not supported")

	// ErrTooLarge: it is larger than what is compiled.
	ErrTooLarge = errors.New("the grammar is too large: ask for less or loosen its bounds")

	// ErrNothing: no text matches.
	ErrNothing = errors.New("no text matches the grammar")

	// ErrTooAmbiguous: so many ways to read a text are open that a mask takes too long.
	ErrTooAmbiguous = errors.New("the grammar is too ambiguous: say where its repetitions begin and end")

	// ErrComplete: the text is complete, and nothing may end it.
	ErrComplete = errors.New("the text is complete and the request's settings ban what would end it: ask for fewer tokens at least")

	// ErrLeft: the ids of a sequence are not the beginning of a text that matches.
	ErrLeft = errors.New("the text is outside of the grammar")
)
