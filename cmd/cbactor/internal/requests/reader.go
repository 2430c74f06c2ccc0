package requests

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cbactor/cbactor/actors"
)

// maxLine bounds a line of a file of requests, in bytes.
const maxLine = 16 << 20

// Reader reads a file of requests.
type Reader struct {
	lines    *lines
	file     string
	defaults Settings
	ids      claims
}

// NewReader reads requests from r; file names it in errors. The defaults hold where a
// line says nothing.
func NewReader(r io.Reader, file string, defaults Settings) *Reader {
	return &Reader{lines: newLines(r, maxLine), file: file, defaults: defaults, ids: newClaims()}
}

// Next gives the next request, passing over blank lines. One without an id gets
// "line-N" of its line, so that a file names its requests alike every time it is
// read; no two have the same: of lines with one id all but the first are bad. A bad
// line is a *LineError, and the next call goes on after it; the error after the last
// line is io.EOF; any other error comes from the file.
func (r *Reader) Next() (Request, error) {
	for {
		line, _, err := r.lines.next()
		if errors.Is(err, ErrTooLong) {
			return Request{}, r.bad(defaultID(r.lines.number), err)
		}
		if err == io.EOF {
			return Request{}, err
		}
		if err != nil {
			return Request{}, fmt.Errorf("read %s: %w", r.file, err)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		request := Request{Settings: r.defaults}
		err = parse(line, &request)
		if taken := r.name(&request); err == nil {
			err = taken
		}
		if err != nil {
			return Request{}, r.bad(request.ID, err)
		}
		return request, nil
	}
}

// Place is where the request last read stands, for what is found wrong with it later.
func (r *Reader) Place(request Request) *LineError {
	return &LineError{File: r.file, Line: r.lines.number, ID: request.ID, Read: true}
}

func (r *Reader) bad(id string, err error) error {
	return &LineError{File: r.file, Line: r.lines.number, ID: id, Err: err}
}

// name gives the request last read its id. One that asks for another's, also for that
// of one of its sequences, gets that of its line, as its result must not be taken for
// the other's.
func (r *Reader) name(request *Request) error {
	own := defaultID(r.lines.number)
	if request.ID == "" {
		request.ID = own
	}
	for i := range request.Settings.Sequences() {
		if err := r.ids.claim(actors.ChildID(request.ID, i), r.lines.number); err != nil {
			request.ID = own
			return err
		}
	}
	return nil
}
