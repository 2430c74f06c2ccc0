package requests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lines reads a file line by line. Memory follows the longest line, never more
// than its limit.
type lines struct {
	r      *bufio.Reader
	limit  int // bytes of a line without its end
	number int // of the line last read, from 1
	buf    []byte
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// byteOrderMark may stand before the first line.
var byteOrderMark = []byte("\xef\xbb\xbf")

// next gives the next line without its end; it is valid until the next call. A
// line that is too long is passed over and reported as ErrTooLong. whole is false
// for a last line that has no end. After the last line the error is io.EOF.
func (l *lines) next() (line []byte, whole bool, err error) {
	l.buf = l.buf[:0]
	tooLong := false
	for begun := false; ; begun = true {
		part, err := l.r.ReadSlice('\n')
		if !begun && len(part) > 0 {
			l.number++
		}
		tooLong = tooLong || len(l.buf)+len(part) > l.limit+len("\r\n")
		if !tooLong {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil, err == io.EOF && (begun || len(part) > 0):
			if tooLong {
				return nil, err == nil, fmt.Errorf("%w: at most %d MiB are read", ErrTooLong, l.limit>>20)
			}
			line := bytes.TrimRight(l.buf, "\r\n")
			if l.number == 1 {
				line = bytes.TrimPrefix(line, byteOrderMark)
			}
			return line, err == nil, nil
		default:
			return nil, false, err
		}
	}
}

// Count counts the lines of r that are not blank: the requests of a file.
func Count(r io.Reader) (int, error) {
	l := newLines(r, maxLine)
	for n := 0; ; {
		line, _, err := l.next()
		switch {
		case err == io.EOF:
			return n, nil
		case errors.Is(err, ErrTooLong):
			n++
		case err != nil:
			return 0, err
		case len(bytes.TrimSpace(line)) > 0:
			n++
		}
	}
}
