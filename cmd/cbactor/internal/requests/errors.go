package requests

import (
	"errors"
	"fmt"
)

var (
	// ErrLine is the class of every line that is no request, or no result. Reading may go
	// on after it.
	ErrLine = errors.New("bad line")
	// ErrTooLong is the cause of a line longer than the bound.
	ErrTooLong = errors.New("the line is too long")
	// ErrTaken is the cause of a line whose request_id is another line's.
	ErrTaken = errors.New("the request_id is taken")
	// ErrOtherPrompt means that a result of a request's id is there, of another prompt.
	ErrOtherPrompt = errors.New("its request_id has the result of another prompt")
	// ErrLocked means that another process appends to a file of results.
	ErrLocked = errors.New("another process is writing to it: wait for its end, or give another file")
)

// LineError says what is wrong with a line.
type LineError struct {
	File string
	Line int    // from 1
	ID   string // the request's, "line-N" where none was read or it is taken; "": none
	Read bool   // it is a request, and something else is wrong with that
	Err  error
}

// With is the error of the same line for another cause.
func (e LineError) With(err error) *LineError {
	e.Err = err
	return &e
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// InFile is the error for a reader who knows the file.
func (e *LineError) InFile() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap makes a LineError of its cause, and of the class ErrLine if nothing could be
// made of the line.
func (e *LineError) Unwrap() []error {
	if e.Read {
		return []error{e.Err}
	}
	return []error{ErrLine, e.Err}
}
