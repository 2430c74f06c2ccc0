package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
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

// ggufScalar are the bytes of a scalar of each value type, ggufLeast the fewest of any value.
var (
	ggufScalar = [...]uint64{1, 1, 2, 2, 4, 4, 4, 1, ggufString: 0, ggufArray: 0, ggufUint64: 8, ggufInt64: 8, ggufFloat64: 8}
	ggufLeast  = [...]uint64{1, 1, 2, 2, 4, 4, 4, 1, ggufString: 8, ggufArray: 12, ggufUint64: 8, ggufInt64: 8, ggufFloat64: 8}
)

// ggufList is an array of metadata: texts, or numbers as they lie in the file.
type ggufList struct {
	elem  uint32
	n     uint64
	raw   []byte
	texts []string
}

// value reads a value: an integer as int64 or uint64, a float as float64, a bool,
// a string, or a *ggufList.
func (r *ggufReader) value(kind uint32) (any, error) {
	switch {
	case kind == ggufString:
		return r.text()
	case kind == ggufArray:
		return r.list()
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
func (r *ggufReader) list() (*ggufList, error) {
	elem, n, err := r.listHead()
	if err != nil {
		return nil, err
	}
	l := &ggufList{elem: elem, n: n}
	switch elem {
	case ggufString:
		l.texts = make([]string, n)
		for i := range l.texts {
			if l.texts[i], err = r.text(); err != nil {
				return nil, err
			}
		}
	case ggufArray:
		for range n {
			if err := r.skipList(1); err != nil {
				return nil, err
			}
		}
	default:
		l.raw = make([]byte, n*ggufScalar[elem])
		err = r.fill(l.raw)
	}
	return l, err
}

// listHead reads the type and the number of the elements of an array, which can follow.
func (r *ggufReader) listHead() (elem uint32, n uint64, err error) {
	if elem, err = r.u32(); err != nil {
		return 0, 0, err
	}
	if n, err = r.u64(); err != nil {
		return 0, 0, err
	}
	if elem >= uint32(len(ggufScalar)) {
		return 0, 0, fmt.Errorf("array of value type %d, which is not known", elem)
	}
	return elem, n, r.need(n, ggufLeast[elem])
}

// skipList passes over an array within depth others.
func (r *ggufReader) skipList(depth int) error {
	if depth >= maxGGUFNested {
		return fmt.Errorf("arrays are nested deeper than %d", maxGGUFNested)
	}
	elem, n, err := r.listHead()
	switch {
	case err != nil:
		return err
	case elem != ggufString && elem != ggufArray:
		return r.skip(n * ggufLeast[elem])
	}
	for range n {
		if elem == ggufArray {
			err = r.skipList(depth + 1)
		} else if size, failed := r.u64(); failed != nil {
			err = failed
		} else {
			err = r.skip(size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
