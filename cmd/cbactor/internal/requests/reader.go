package requests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of a file of requests, in bytes.
const maxLine = 16 << 20

// Reader reads a file of requests.
type Reader struct {
	lines *lines
	file  string
}

// NewReader reads requests from r; file names it in errors.
func NewReader(r io.Reader, file string) *Reader {
	return &Reader{lines: newLines(r, maxLine), file: file}
}

// Next gives the next request, passing over blank lines. One without an id gets
// "line-N" of its line, so that a file names its requests alike every time it is
// read. A bad line is a *LineError, and the next call goes on after it; the error
// after the last line is io.EOF; any other error comes from the file.
func (r *Reader) Next() (Request, error) {
	for {
		line, _, err := r.lines.next()
		if errors.Is(err, ErrTooLong) {
			return Request{}, r.bad(r.defaultID(), err)
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
		var request Request
		err = parse(line, &request)
		if request.ID == "" {
			request.ID = r.defaultID()
		}
		if err != nil {
			return Request{}, r.bad(request.ID, err)
		}
		return request, nil
	}
}

// Bad is the error of the request last read, when it is found bad later.
func (r *Reader) Bad(request Request, err error) error { return r.bad(request.ID, err) }

func (r *Reader) bad(id string, err error) error {
	return &LineError{File: r.file, Line: r.lines.number, ID: id, Err: err}
}

func (r *Reader) defaultID() string { return fmt.Sprintf("line-%d", r.lines.number) }
