package replaylog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cbactor/cbactor/internal/jsonl"
)

// ErrFormat is the class of a file that is no replay log, or not one of this version.
var ErrFormat = errors.New("not a replay log that can be read")

// Entry is what a Reader gives: weights, or a sequence with its request.
type Entry struct {
	Weights  *Weights
	Request  *Request
	Sequence *Sequence
}

// Reader reads a log and checks what it reads: whoever gets an Entry need not check
// that its numbers fit each other.
type Reader struct {
	Header Header

	lines  *jsonl.Lines
	torn   bool
	lost   int64
	epoch  uint32 // of the last weights
	epochs map[uint32]bool
	last   uint64 // number of the last request
	open   map[uint64]*open
}

// open is a request of which sequences are to come.
type open struct {
	request *Request
	seen    map[int32]bool
}

// NewReader reads the header. Errors are ErrFormat or those of in.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{lines: jsonl.New(in, ErrFormat), epochs: map[uint32]bool{}, open: map[uint64]*open{}}
	line, err := r.lines.Next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: it is empty: a log begins with the first request", ErrFormat)
	}
	if err != nil {
		return nil, err
	}
	if !isHeader(line, &r.Header) {
		return nil, fmt.Errorf("%w: the first line is no header: give a file that --record has written", ErrFormat)
	}
	switch h := &r.Header; {
	case h.Version != Version:
		return nil, fmt.Errorf("%w: it has version %d, this program reads version %d", ErrFormat, h.Version, Version)
	case h.PageSize < 1 || h.Vocab < 1:
		return nil, fmt.Errorf("%w: pages of %d tokens, a vocabulary of %d: neither may be below 1", ErrFormat, h.PageSize, h.Vocab)
	}
	return r, nil
}

// Is says whether a file that begins with head is a replay log, of whatever version.
func Is(head []byte) bool {
	line, _, whole := bytes.Cut(head, []byte{'\n'})
	return whole && isHeader(line, new(Header))
}

func isHeader(line []byte, h *Header) bool {
	return json.Unmarshal(line, h) == nil && h.Version != 0
}

// Next reads weights or a sequence, io.EOF after the last. A last line that is cut, as
// by a process that was killed, is left out.
func (r *Reader) Next() (Entry, error) {
	for {
		text, err := r.lines.Next()
		if err != nil {
			return Entry{}, err
		}
		var l Line
		if err := decode(text, &l); err != nil {
			if text[len(text)-1] != '\n' {
				r.torn = true
				return Entry{}, io.EOF
			}
			return Entry{}, r.wrong("%w", err)
		}
		e, err := r.take(&l)
		if err != nil || e != (Entry{}) {
			return e, err
		}
	}
}

// decode reads a line. A field that is not known may be one that tokens depend on.
func decode(text []byte, l *Line) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(l); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(text[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("it goes on with %.20q", rest)
	}
	return nil
}

// take checks a line and answers what there is to do about it.
func (r *Reader) take(l *Line) (Entry, error) {
	count := 0
	for _, there := range []bool{l.Weights != nil, l.Request != nil, l.Sequence != nil, l.Lost != 0} {
		if there {
			count++
		}
	}
	switch {
	case count != 1:
		return Entry{}, r.wrong("it must be one of weights, request, sequence and lost")
	case l.Weights != nil:
		return Entry{Weights: l.Weights}, r.takeWeights(l.Weights)
	case l.Request != nil:
		return Entry{}, r.takeRequest(l.Request)
	case l.Sequence != nil:
		return r.takeSequence(l.Sequence)
	case l.Lost < 0:
		return Entry{}, r.wrong("%d lines are lost", l.Lost)
	}
	r.lost += l.Lost
	return Entry{}, nil
}

// wrong is an ErrFormat that names the line.
func (r *Reader) wrong(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: "+format, append([]any{ErrFormat, r.lines.Number}, args...)...)
}

// Torn tells, after io.EOF, whether the last line was cut.
func (r *Reader) Torn() bool { return r.torn }

// Lost is how many lines are missing so far.
func (r *Reader) Lost() int64 { return r.lost }

// Open is, after io.EOF, how many requests have not ended with all their sequences.
func (r *Reader) Open() int { return len(r.open) }
