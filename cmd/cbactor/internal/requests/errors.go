package requests

import (
	"errors"
	"fmt"
)

var (
	// ErrLine is the class of every bad line. Reading may go on after it.
	ErrLine = errors.New("bad line")
	// ErrTooLong is the cause of a line longer than the bound.
	ErrTooLong = errors.New("the line is too long")
)

// LineError says what is wrong with a line.
type LineError struct {
	File string
	Line int    // from 1
	ID   string // the request's, as far as it was read; "": none
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap makes a LineError of the class ErrLine and of its cause.
func (e *LineError) Unwrap() []error { return []error{ErrLine, e.Err} }
