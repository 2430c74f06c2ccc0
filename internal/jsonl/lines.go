package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine bounds a line, in bytes.
const MaxLine = 64 << 20

// Lines reads line after line.
type Lines struct {
	Number int // of the last line

	in    *bufio.Scanner
	class error
}

// New reads from in. The error of a line that is too long is of that class.
func New(in io.Reader, class error) *Lines {
	l := &Lines{in: bufio.NewScanner(in), class: class}
	l.in.Buffer(nil, MaxLine)
	l.in.Split(whole)
	return l
}

// Next is the next line with its end, valid until the next call. A last one without an
// end was cut. Behind it the error is io.EOF.
func (l *Lines) Next() ([]byte, error) {
	l.Number++
	switch {
	case l.in.Scan():
		return l.in.Bytes(), nil
	case errors.Is(l.in.Err(), bufio.ErrTooLong):
		return nil, fmt.Errorf("%w: line %d has more than %d MiB", l.class, l.Number, MaxLine>>20)
	case l.in.Err() != nil:
		return nil, l.in.Err()
	}
	return nil, io.EOF
}

// whole splits into lines with their ends.
func whole(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
