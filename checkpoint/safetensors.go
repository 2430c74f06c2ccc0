package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	maxSafetensorsHeader = 100_000_000 // the format's own limit
	maxTensors           = 1 << 18
	maxRank              = 16
	maxNestedJSON        = 32
)

// safetensorsBits are the types of the format and the bits of an element.
var safetensorsBits = map[string]uint64{
	"F64": 64, "F32": 32, "F16": 16, "BF16": 16,
	"I64": 64, "I32": 32, "I16": 16, "I8": 8, "U64": 64, "U32": 32, "U16": 16, "U8": 8, "BOOL": 8,
	"F8_E4M3": 8, "F8_E5M2": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F8_E8M0": 8,
	"F6_E2M3": 6, "F6_E3M2": 6, "F4": 4, "C64": 64,
}

// span is a tensor's entry in the header.
type span struct {
	stored
	begin, end uint64 // within the data that follows the header
}

// readSafetensors reads the header of a safetensors file of the given size.
func readSafetensors(file io.ReaderAt, size int64) ([]stored, error) {
	spans, n, err := readHeader(io.NewSectionReader(file, 0, size), size, nil)
	if err != nil {
		return nil, err
	}
	tensors := make([]stored, len(spans))
	for i, s := range spans {
		s.file, s.offset = file, n+int64(s.begin)
		tensors[i] = s.stored
	}
	return tensors, nil
}

// readHeader reads what safetensors data begins with: eight bytes of length and that
// many bytes of JSON, n in all. Then follow the tensors without gap or overlap. size is
// that of the whole; unknown (-1), the tensors' end is taken for the end. The JSON is read token by
// token, so that what it claims costs no memory and no name comes twice unnoticed.
// What it says of the whole is put into meta, unless that is nil.
func readHeader(r io.Reader, size int64, meta map[string]string) (spans []span, n int64, err error) {
	var prefix [9]byte
	if got, err := io.ReadFull(r, prefix[:]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, fmt.Errorf("%w: %d bytes are too few for safetensors", ErrFormat, got)
	} else if err != nil {
		return nil, 0, fmt.Errorf("read header: %w", err)
	}
	length := binary.LittleEndian.Uint64(prefix[:8])
	if length > maxSafetensorsHeader || size >= 0 && length > uint64(size-8) {
		return nil, 0, fmt.Errorf("%w: header of %d bytes in a file of %d, the limit is %d", ErrFormat, length, size, maxSafetensorsHeader)
	}
	if length == 0 {
		return nil, 0, fmt.Errorf("%w: the header is empty", ErrFormat)
	}
	js := io.MultiReader(bytes.NewReader(prefix[8:]), io.LimitReader(r, int64(length)-1))
	h := headerReader{json.NewDecoder(js), meta}
	h.UseNumber()
	if spans, err = h.header(); err != nil {
		return nil, 0, fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	n = 8 + int64(length)
	return spans, n, checkCover(spans, size-n)
}

// checkCover sorts the spans and checks that they cover the data exactly; a negative
// size is not known.
func checkCover(spans []span, size int64) error {
	slices.SortFunc(spans, func(a, b span) int {
		if a.begin != b.begin {
			return cmp.Compare(a.begin, b.begin)
		}
		return cmp.Compare(a.end, b.end)
	})
	at := uint64(0)
	for _, s := range spans {
		if s.begin != at {
			return fmt.Errorf("%w: tensor %.80q begins at %d, the one before ends at %d", ErrFormat, s.Name, s.begin, at)
		}
		at = s.end
	}
	if size >= 0 && at != uint64(size) {
		return fmt.Errorf("%w: tensors end at %d, the data at %d: is the file truncated?", ErrFormat, at, size)
	}
	return nil
}
