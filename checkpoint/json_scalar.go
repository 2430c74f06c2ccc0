package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONNumber is how many bytes of a number are kept.
const maxJSONNumber = 64

// text reads a text that must be UTF-8, valid until the next call. Of one that has more than
// limit bytes the first are there, which are more than limit.
func (j *jsonReader) text(limit int) []byte {
	j.take('"')
	j.buf = j.buf[:0]
	for j.err == nil {
		r := j.character()
		switch {
		case r == '"':
			return j.buf
		case r < ' ' && j.err == nil:
			j.fail(errors.New("a text has a control character"))
		case r == '\\':
			r = j.escaped()
		}
		if len(j.buf) <= limit {
			j.buf = utf8.AppendRune(j.buf, r)
		}
	}
	return nil
}

// character takes one of a text.
func (j *jsonReader) character() rune {
	c := j.byte()
	if c < utf8.RuneSelf || j.err != nil {
		return rune(c)
	}
	if err := j.in.UnreadByte(); err != nil {
		j.fail(err)
	}
	r, size, err := j.in.ReadRune()
	if err != nil {
		j.fail(err)
	} else if r == utf8.RuneError && size == 1 {
		j.fail(errors.New("a text is not UTF-8"))
	}
	return r
}

// escaped is the character that stands behind a backslash.
func (j *jsonReader) escaped() rune {
	switch c := j.byte(); c {
	case '"', '\\', '/':
		return rune(c)
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'u':
		return j.unicode()
	default:
		j.fail(fmt.Errorf("a backslash before %q", c))
		return 0
	}
}

// unicode is the character of \uXXXX, or of two that are a pair.
func (j *jsonReader) unicode() rune {
	first := j.hex()
	if !utf16.IsSurrogate(first) {
		return first
	}
	pair := j.byte() == '\\' && j.byte() == 'u'
	if r := utf16.DecodeRune(first, j.hex()); pair && r != utf8.RuneError {
		return r
	}
	j.fail(errors.New("half a surrogate pair"))
	return 0
}

// hex reads four digits.
func (j *jsonReader) hex() rune {
	var digits [4]byte
	if j.err == nil {
		_, err := io.ReadFull(j.in, digits[:])
		if err != nil {
			j.fail(err)
		}
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		j.fail(fmt.Errorf("\\u before %q", digits[:]))
	}
	return rune(n)
}

// number reads a number, valid until the next call, of which the first bytes are kept.
func (j *jsonReader) number() []byte {
	c := j.next()
	j.buf = j.buf[:0]
	if c == '-' {
		c = j.keep()
	}
	if c == '0' {
		c = j.keep()
	} else {
		c = j.digits(c)
	}
	if c == '.' {
		c = j.digits(j.keep())
	}
	if c == 'e' || c == 'E' {
		if c = j.keep(); c == '+' || c == '-' {
			c = j.keep()
		}
		j.digits(c)
	}
	return j.buf
}

// digits reads one or more from c on, and gives the byte behind them.
func (j *jsonReader) digits(c byte) byte {
	if c < '0' || c > '9' {
		j.fail(errors.New("no value"))
	}
	for c >= '0' && c <= '9' {
		c = j.keep()
	}
	return c
}

// keep takes a byte of a number, and gives the one behind it, 0 at the end of the text.
func (j *jsonReader) keep() byte {
	if c := j.byte(); len(j.buf) < maxJSONNumber {
		j.buf = append(j.buf, c)
	}
	if b, err := j.in.Peek(1); err == nil {
		return b[0]
	}
	return 0
}

// whole reads a whole number that fits an int64.
func (j *jsonReader) whole() uint64 {
	digits := j.number()
	if j.err != nil {
		return 0
	}
	n, err := strconv.ParseUint(string(digits), 10, 63)
	if err != nil {
		j.fail(err)
	}
	return n
}
