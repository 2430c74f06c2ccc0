package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// Value types of GGUF metadata.
const (
	ggufUint8 = iota
	ggufInt8
	ggufUint16
	ggufInt16
	ggufUint32
	ggufInt32
	ggufFloat32
	ggufBool
	ggufString
	ggufArray
	ggufUint64
	ggufInt64
	ggufFloat64
)

// ggufScalar are the bytes of a scalar of each value type.
var ggufScalar = [...]uint64{1, 1, 2, 2, 4, 4, 4, 1, ggufString: 0, ggufArray: 0, ggufUint64: 8, ggufInt64: 8, ggufFloat64: 8}

const (
	maxGGUFHeader = 64 << 20 // far above the largest vocabularies
	maxGGUFNested = 4
)

var errGGUFShort = errors.New("it ends inside of the header")

// ggufList is an array of metadata: texts, or numbers as they lie in the file.
type ggufList struct {
	elem  uint32
	n     uint64
	raw   []byte
	texts []string
}

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

// take reads n bytes. They are overwritten by the next call.
func (r *ggufReader) take(n uint64) ([]byte, error) {
	if err := r.need(n, 1); err != nil {
		return nil, err
	}
	b := r.tmp[:]
	if n > uint64(len(b)) {
		b = make([]byte, n)
	}
	b = b[:n]
	if _, err := io.ReadFull(r.in, b); err != nil {
		return nil, err
	}
	r.pos += n
	return b, nil
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
	b, err := r.take(n)
	return string(b), err
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

// value reads a value: an integer as int64 or uint64, a float as float64, a bool,
// a string, or a *ggufList.
func (r *ggufReader) value(kind uint32, depth int) (any, error) {
	switch {
	case kind == ggufString:
		return r.text()
	case kind == ggufArray:
		return r.list(depth)
	case kind >= uint32(len(ggufScalar)):
		return nil, fmt.Errorf("value type %d is not known", kind)
	}
	b, err := r.take(ggufScalar[kind])
	if err != nil {
		return nil, err
	}
	if kind == ggufBool && b[0] > 1 {
		return nil, fmt.Errorf("bool is %d", b[0])
	}
	return ggufNumber(kind, b), nil
}

// ggufNumber decodes the scalar at the start of b.
func ggufNumber(kind uint32, b []byte) any {
	le := binary.LittleEndian
	switch kind {
	case ggufUint8:
		return uint64(b[0])
	case ggufInt8:
		return int64(int8(b[0]))
	case ggufUint16:
		return uint64(le.Uint16(b))
	case ggufInt16:
		return int64(int16(le.Uint16(b)))
	case ggufUint32:
		return uint64(le.Uint32(b))
	case ggufInt32:
		return int64(int32(le.Uint32(b)))
	case ggufFloat32:
		return float64(math.Float32frombits(le.Uint32(b)))
	case ggufBool:
		return b[0] == 1
	case ggufUint64:
		return le.Uint64(b)
	case ggufInt64:
		return int64(le.Uint64(b))
	}
	return math.Float64frombits(le.Uint64(b))
}

// list reads an array. Arrays of arrays are checked and thrown away: nothing that
// is read uses them.
func (r *ggufReader) list(depth int) (*ggufList, error) {
	if depth >= maxGGUFNested {
		return nil, fmt.Errorf("arrays are nested deeper than %d", maxGGUFNested)
	}
	elem, err := r.u32()
	if err != nil {
		return nil, err
	}
	n, err := r.u64()
	if err != nil {
		return nil, err
	}
	l := &ggufList{elem: elem, n: n}
	switch {
	case elem == ggufString:
		if err := r.need(n, 8); err != nil {
			return nil, err
		}
		for range n {
			s, err := r.text()
			if err != nil {
				return nil, err
			}
			l.texts = append(l.texts, s)
		}
	case elem == ggufArray:
		if err := r.need(n, 12); err != nil {
			return nil, err
		}
		for range n {
			if _, err := r.list(depth + 1); err != nil {
				return nil, err
			}
		}
	case elem < uint32(len(ggufScalar)):
		if err := r.need(n, ggufScalar[elem]); err != nil {
			return nil, err
		}
		l.raw, err = r.take(n * ggufScalar[elem])
		l.raw = slices.Clone(l.raw)
	default:
		err = fmt.Errorf("array of value type %d, which is not known", elem)
	}
	return l, err
}
