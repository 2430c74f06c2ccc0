package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrFormat is the class of a file that is no trace, or not one of this version.
var ErrFormat = errors.New("not a trace that can be read")

// maxLine bounds a line: ids and errors in it come from outside.
const maxLine = 64 << 20

// Reader reads a trace.
type Reader struct {
	Header Header
	lines  *bufio.Scanner
	number int // of the last line
	torn   bool
}

// NewReader reads the header. Errors are ErrFormat or those of in.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{lines: bufio.NewScanner(in)}
	r.lines.Buffer(nil, maxLine)
	r.lines.Split(wholeLines)
	line, err := r.line()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: it is empty: a trace begins with the first request", ErrFormat)
	}
	if err != nil {
		return nil, err
	}
	if !isHeader(line, &r.Header) {
		return nil, fmt.Errorf("%w: the first line is no header: give a file that --trace has written", ErrFormat)
	}
	if r.Header.Version != Version {
		return nil, fmt.Errorf("%w: it has version %d, this program reads version %d", ErrFormat, r.Header.Version, Version)
	}
	return r, nil
}

// Next reads an event, io.EOF after the last. A last line that is cut, as by a
// process that was killed, is left out.
func (r *Reader) Next() (Event, error) {
	var e Event
	line, err := r.line()
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(line, &e); err != nil || e.Kind == "" {
		if isHeader(line, new(Header)) {
			return Event{}, fmt.Errorf("%w: line %d begins another trace: explain each from a file of its own", ErrFormat, r.number)
		}
		if line[len(line)-1] != '\n' {
			r.torn = true
			return Event{}, io.EOF
		}
		return Event{}, fmt.Errorf("%w: line %d is no event", ErrFormat, r.number)
	}
	return e, nil
}

// Torn tells, after io.EOF, whether the last line was cut.
func (r *Reader) Torn() bool { return r.torn }

func (r *Reader) line() ([]byte, error) {
	r.number++
	switch {
	case r.lines.Scan():
		return r.lines.Bytes(), nil
	case errors.Is(r.lines.Err(), bufio.ErrTooLong):
		return nil, fmt.Errorf("%w: line %d has more than %d MiB", ErrFormat, r.number, maxLine>>20)
	case r.lines.Err() != nil:
		return nil, r.lines.Err()
	}
	return nil, io.EOF
}

// wholeLines splits into lines with their ends: one that lacks it is cut.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
