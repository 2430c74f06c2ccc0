package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
)

// blame has a result that failed say of which request it is, by its line in a file or by
// its id, and why in the words of this command.
func (j job) blame(r *show.Result) {
	var line *requests.LineError
	switch {
	case r.Err == nil:
		return
	case errors.As(r.Err, &line):
	case j.line != nil:
		line = j.line.With(plainly(j.request.ID, r.Err))
	default:
		cause := plainly(j.request.ID, r.Err)
		r.Err, r.Error = fmt.Errorf("%s: %w", oneLine(show.Quoted(r.RequestID)), cause), cause.Error()
		return
	}
	r.Err, r.Error = line, line.InFile() // whoever gets the results has the file by another name
}

// plain is an error in other words.
type plain struct {
	error
	text string
}

func (p plain) Error() string { return p.text }

func (p plain) Unwrap() error { return p.error }

// plainly is an error of a request without its name and without the classes that programs
// tell errors by.
func plainly(id string, err error) error {
	text := strings.TrimPrefix(err.Error(), fmt.Sprintf("request %q: ", id))
	for _, class := range []error{engine.ErrParams, engine.ErrRejected, sampling.ErrParams} {
		text = strings.TrimPrefix(text, class.Error()+": ")
	}
	return plain{err, text}
}
