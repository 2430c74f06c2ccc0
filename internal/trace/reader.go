package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cbactor/cbactor/internal/jsonl"
)

// ErrFormat is the class of a file that is no trace, or not one of this version.
var ErrFormat = errors.New("not a trace that can be read")

// Reader reads a trace.
type Reader struct {
	Header Header
	lines  *jsonl.Lines
	torn   bool
}

// NewReader reads the header. Errors are ErrFormat or those of in.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{lines: jsonl.New(in, ErrFormat)}
	line, err := r.lines.Next()
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
	line, err := r.lines.Next()
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(line, &e); err != nil || e.Kind == "" {
		if isHeader(line, new(Header)) {
			return Event{}, fmt.Errorf("%w: line %d begins another trace: explain each from a file of its own", ErrFormat, r.lines.Number)
		}
		if line[len(line)-1] != '\n' {
			r.torn = true
			return Event{}, io.EOF
		}
		return Event{}, fmt.Errorf("%w: line %d is no event", ErrFormat, r.lines.Number)
	}
	return e, nil
}

// Torn tells, after io.EOF, whether the last line was cut.
func (r *Reader) Torn() bool { return r.torn }
