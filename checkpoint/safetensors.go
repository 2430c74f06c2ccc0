package checkpoint

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
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

// readSafetensors reads the header of a safetensors file of the given size: eight
// bytes of length, that many bytes of JSON, then the tensors without gap or
// overlap. The JSON is read token by token, so that what it claims costs no
// memory and no name comes twice unnoticed.
func readSafetensors(file io.ReaderAt, size int64) ([]stored, error) {
	var prefix [9]byte
	if size < int64(len(prefix)) {
		return nil, fmt.Errorf("%w: %d bytes are too few for a safetensors file", ErrFormat, size)
	}
	if _, err := file.ReadAt(prefix[:], 0); err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	n := binary.LittleEndian.Uint64(prefix[:8])
	if n > maxSafetensorsHeader || n > uint64(size-8) {
		return nil, fmt.Errorf("%w: header of %d bytes in a file of %d, the limit is %d", ErrFormat, n, size, maxSafetensorsHeader)
	}
	if prefix[8] != '{' {
		return nil, fmt.Errorf("%w: the header does not begin with {", ErrFormat)
	}
	h := headerReader{json.NewDecoder(io.NewSectionReader(file, 8, int64(n)))}
	h.UseNumber()
	spans, err := h.header()
	if err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	if err := checkCover(spans, uint64(size)-8-n); err != nil {
		return nil, err
	}
	tensors := make([]stored, len(spans))
	for i, s := range spans {
		s.file, s.offset = file, int64(8+n+s.begin)
		tensors[i] = s.stored
	}
	return tensors, nil
}

// checkCover sorts the spans and checks that they cover the data exactly.
func checkCover(spans []span, size uint64) error {
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
	if at != size {
		return fmt.Errorf("%w: tensors end at %d, the data at %d: is the file truncated?", ErrFormat, at, size)
	}
	return nil
}
