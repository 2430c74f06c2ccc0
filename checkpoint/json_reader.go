package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// jsonReader reads JSON (RFC 8259) from front to back and keeps nothing of it: what a value
// costs is what its reader keeps. The first error stays in err, io.ErrUnexpectedEOF where the
// text ends too early; what is read behind it is nothing.
type jsonReader struct {
	in  *bufio.Reader
	buf []byte // the text or number that was read last
	err error
}

const maxNestedJSON = 32

func newJSONReader(r io.Reader) *jsonReader { return &jsonReader{in: bufio.NewReaderSize(r, 1<<16)} }

func (j *jsonReader) fail(err error) {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if j.err == nil {
		j.err = err
	}
}

// next is the first byte of what follows, which is not taken; 0 after an error.
func (j *jsonReader) next() byte {
	for j.err == nil {
		b, err := j.in.Peek(1)
		if err != nil {
			j.fail(err)
			return 0
		}
		if c := b[0]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
		j.byte()
	}
	return 0
}

// byte takes a byte; 0 after an error.
func (j *jsonReader) byte() byte {
	if j.err != nil {
		return 0
	}
	c, err := j.in.ReadByte()
	if err != nil {
		j.fail(err)
	}
	return c
}

// take takes a byte that must follow.
func (j *jsonReader) take(want byte) {
	if c := j.next(); c == want {
		j.byte()
	} else {
		j.fail(fmt.Errorf("found %q, want %q", c, want))
	}
}

// end makes sure that nothing follows.
func (j *jsonReader) end() {
	if j.err != nil {
		return
	}
	if c := j.next(); j.err == nil {
		j.fail(fmt.Errorf("%q follows the end", c))
	} else if errors.Is(j.err, io.ErrUnexpectedEOF) {
		j.err = nil
	}
}

// more tells that another element follows in a list that ends with closing, of which n were
// read, and counts it:
//
//	j.take('[')
//	for n := 0; j.more(']', &n); { … }
func (j *jsonReader) more(closing byte, n *int) bool {
	if j.next() == closing {
		j.byte()
		return false
	}
	if *n > 0 {
		j.take(',')
	}
	*n++
	return j.err == nil
}

// key reads the key of a member as text does.
func (j *jsonReader) key(limit int) []byte {
	j.text(limit)
	j.take(':')
	return j.buf
}

// skip passes over a value.
func (j *jsonReader) skip() { j.skipAt(0) }

func (j *jsonReader) skipAt(depth int) {
	if depth > maxNestedJSON {
		j.fail(fmt.Errorf("nested deeper than %d", maxNestedJSON))
	}
	switch j.next() {
	case '{':
		j.take('{')
		for n := 0; j.more('}', &n); {
			j.key(0)
			j.skipAt(depth + 1)
		}
	case '[':
		j.take('[')
		for n := 0; j.more(']', &n); {
			j.skipAt(depth + 1)
		}
	case '"':
		j.text(0)
	case 't':
		j.word("true")
	case 'f':
		j.word("false")
	case 'n':
		j.word("null")
	default:
		j.number()
	}
}

// word takes one of the three.
func (j *jsonReader) word(want string) {
	for i := range len(want) {
		if j.byte() != want[i] {
			j.fail(fmt.Errorf("no value, want %s", want))
		}
	}
}
