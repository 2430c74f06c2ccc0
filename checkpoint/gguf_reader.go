package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	maxGGUFHeader = 64 << 20 // far above the largest vocabularies
	maxGGUFNested = 4
)

var errGGUFShort = errors.New("it ends inside of the header")

// ggufReader reads the header from front to back. Whatever is taken is compared
// with what is left of the file, and of maxGGUFHeader, before memory is taken.
type ggufReader struct {
	in   *bufio.Reader
	pos  uint64
	size uint64 // of the file
	tmp  [64]byte
}

func newGGUFReader(file io.ReaderAt, size int64) *ggufReader {
	return &ggufReader{in: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<16), size: uint64(size)}
}

// need checks that n units of at least bytes each can follow.
func (r *ggufReader) need(n, bytes uint64) error {
	if n > (r.size-r.pos)/bytes {
		return errGGUFShort
	}
	if n > (maxGGUFHeader-min(r.pos, maxGGUFHeader))/bytes {
		return fmt.Errorf("its header is larger than %d MiB", maxGGUFHeader>>20)
	}
	return nil
}

// take reads n bytes, at most as many as tmp has. They are overwritten by the next call.
func (r *ggufReader) take(n uint64) ([]byte, error) {
	b := r.tmp[:n]
	return b, r.fill(b)
}

// fill reads as many bytes as b has, which need has seen where they are many.
func (r *ggufReader) fill(b []byte) error {
	n := uint64(len(b))
	if err := r.need(n, 1); err != nil {
		return err
	}
	if _, err := io.ReadFull(r.in, b); err != nil {
		return err
	}
	r.pos += n
	return nil
}

func (r *ggufReader) u32() (uint32, error) {
	b, err := r.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (r *ggufReader) u64() (uint64, error) {
	b, err := r.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

func (r *ggufReader) text() (string, error) {
	n, err := r.u64()
	if err != nil {
		return "", err
	}
	if n <= uint64(len(r.tmp)) {
		b, err := r.take(n)
		return string(b), err
	}
	if err := r.need(n, 1); err != nil {
		return "", err
	}
	var text strings.Builder
	text.Grow(int(n))
	for n > 0 {
		b, err := r.take(min(n, uint64(len(r.tmp))))
		if err != nil {
			return "", err
		}
		text.Write(b)
		n -= uint64(len(b))
	}
	return text.String(), nil
}

// skip passes over n bytes.
func (r *ggufReader) skip(n uint64) error {
	if err := r.need(n, 1); err != nil {
		return err
	}
	_, err := r.in.Discard(int(n))
	r.pos += n
	return err
}

// name reads a text that must be UTF-8, not empty and of at most limit bytes.
func (r *ggufReader) name(limit int) (string, error) {
	s, err := r.text()
	if err != nil {
		return "", err
	}
	if s == "" || len(s) > limit || !utf8.ValidString(s) {
		return "", fmt.Errorf("%.40q is no name: 1 to %d bytes of UTF-8 are", s, limit)
	}
	return s, nil
}
