package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cbactor/cbactor/model"
)

const (
	maxSafetensorsHeader = 100_000_000 // the format's own limit
	maxTensors           = 1 << 18
	maxRank              = 6 // one more than any layer's
	maxTensorName        = 1 << 16
)

// safetensorsTypes are the types of the format, the bits of an element, and how they are read;
// Invalid: not.
var safetensorsTypes = []struct {
	name  string
	bits  uint64
	dtype model.DType
}{
	{"F32", 32, model.F32}, {"F16", 16, model.F16}, {"BF16", 16, model.BF16},
	{name: "F64", bits: 64}, {name: "I64", bits: 64}, {name: "U64", bits: 64}, {name: "C64", bits: 64}, {name: "I32", bits: 32}, {name: "U32", bits: 32},
	{name: "I16", bits: 16}, {name: "U16", bits: 16}, {name: "I8", bits: 8}, {name: "U8", bits: 8}, {name: "BOOL", bits: 8},
	{name: "F8_E4M3", bits: 8}, {name: "F8_E5M2", bits: 8}, {name: "F8_E4M3FNUZ", bits: 8}, {name: "F8_E5M2FNUZ", bits: 8}, {name: "F8_E8M0", bits: 8},
	{name: "F6_E2M3", bits: 6}, {name: "F6_E3M2", bits: 6}, {name: "F4", bits: 4},
}

// readSafetensors reads the header of a safetensors file of the given size, and refuses more
// tensors than a model of that size has.
func readSafetensors(file io.ReaderAt, size int64) ([]stored, error) {
	list, n, err := readHeader(io.NewSectionReader(file, 0, size), size, nil)
	if err != nil {
		return nil, err
	}
	if err := checkCount(list.len(), size); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	tensors := make([]stored, 0, list.len())
	for s := range list.all() {
		tensors = append(tensors, stored{Tensor: s.Tensor, kind: s.kind(), file: file, offset: n + int64(s.begin)})
	}
	return tensors, nil
}

// checkCount refuses more tensors than a file can have that is a model: what is kept of each
// takes less than half of the bytes that it must have, so that memory is bounded by the file.
func checkCount[N int | uint64](tensors N, size int64) error {
	const free, each = 1024, 512
	if most := min(free+size/each, maxTensors); uint64(tensors) > uint64(most) {
		return fmt.Errorf("%d tensors in a file of %d bytes, at most %d are read", tensors, size, most)
	}
	return nil
}

// readHeader reads what safetensors data begins with: eight bytes of length and that
// many bytes of JSON, n in all. Then follow the tensors without gap or overlap. size is
// that of the whole; unknown (-1), the tensors' end is taken for the end. What the JSON
// claims costs no memory before it is there, and less than twice its bytes then.
// What it says of the whole is put into meta, unless that is nil.
func readHeader(r io.Reader, size int64, meta map[string]string) (list *spans, n int64, err error) {
	var prefix [8]byte
	if got, err := io.ReadFull(r, prefix[:]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, fmt.Errorf("%w: %d bytes are too few for safetensors", ErrFormat, got)
	} else if err != nil {
		return nil, 0, fmt.Errorf("read header: %w", err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxSafetensorsHeader || size >= 0 && length > uint64(size-8) {
		return nil, 0, fmt.Errorf("%w: header of %d bytes in a file of %d, the limit is %d", ErrFormat, length, size, maxSafetensorsHeader)
	}
	if length == 0 {
		return nil, 0, fmt.Errorf("%w: the header is empty", ErrFormat)
	}
	h := headerReader{jsonReader: newJSONReader(io.LimitReader(r, int64(length))), meta: meta}
	if list, err = h.header(); err != nil {
		return nil, 0, fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	n = 8 + int64(length)
	return list, n, list.check(size - n)
}
