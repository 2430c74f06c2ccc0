package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// headerReader walks the JSON of a header.
type headerReader struct {
	*json.Decoder
	meta map[string]string // what the header says of the whole; nil: nobody asks
}

// What is kept of it.
const (
	maxMetadata     = 64   // pairs
	maxMetadataText = 1024 // bytes of one
)

func (h headerReader) header() ([]span, error) {
	if err := h.delim('{'); err != nil {
		return nil, err
	}
	var spans []span
	seen := map[string]bool{}
	for h.More() {
		name, err := h.text()
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("%.80q is there twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			err = h.metadata()
		} else {
			var s span
			s, err = h.tensor(name)
			spans = append(spans, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", name, err)
		}
		if len(spans) > maxTensors {
			return nil, fmt.Errorf("more than %d tensors", maxTensors)
		}
	}
	if err := h.delim('}'); err != nil {
		return nil, err
	}
	if _, err := h.Token(); err != io.EOF {
		return nil, errors.New("something follows the closing }")
	}
	return spans, nil
}

// metadata checks that it maps text to text, and keeps what is not too much.
func (h headerReader) metadata() error {
	if err := h.delim('{'); err != nil {
		return err
	}
	for h.More() {
		key, err := h.text()
		if err != nil {
			return err
		}
		value, err := h.text()
		if err != nil {
			return err
		}
		if h.meta != nil && len(h.meta) < maxMetadata && len(key)+len(value) <= maxMetadataText {
			h.meta[key] = value
		}
	}
	return h.delim('}')
}

func (h headerReader) tensor(name string) (span, error) {
	s := span{stored: stored{Tensor: model.Tensor{Name: name, Shape: []int{}}}}
	if err := h.delim('{'); err != nil {
		return s, err
	}
	var offsets []uint64
	seen := map[string]bool{}
	for h.More() {
		field, err := h.text()
		if err != nil {
			return s, err
		}
		if seen[field] {
			return s, fmt.Errorf("field %.80q is there twice", field)
		}
		seen[field] = true
		switch field {
		case "dtype":
			s.kind, err = h.text()
		case "shape":
			var shape []uint64
			shape, err = h.numbers(maxRank)
			for _, d := range shape {
				s.Shape = append(s.Shape, int(d))
			}
		case "data_offsets":
			offsets, err = h.numbers(2)
		default:
			err = h.skip()
		}
		if err != nil {
			return s, fmt.Errorf("%.80q: %w", field, err)
		}
	}
	if !seen["dtype"] || !seen["shape"] || len(offsets) != 2 {
		return s, errors.New("dtype, shape and two data_offsets are needed")
	}
	s.begin, s.end = offsets[0], offsets[1]
	if err := s.checkSize(); err != nil {
		return s, err
	}
	return s, h.delim('}')
}

// checkSize compares shape and type with the span.
func (s *span) checkSize() error {
	n, ok := safetensorsBits[s.kind]
	if !ok {
		return fmt.Errorf("dtype %.40q is not known", s.kind)
	}
	for _, d := range s.Shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			return fmt.Errorf("shape %v is too large", s.Shape)
		}
		n = lo
	}
	if s.end < s.begin || n%8 != 0 || s.end-s.begin != n/8 {
		return fmt.Errorf("%s of shape %v does not fill the bytes %d to %d", s.kind, s.Shape, s.begin, s.end)
	}
	switch s.kind {
	case "F32":
		s.DType = model.F32
	case "F16":
		s.DType = model.F16
	case "BF16":
		s.DType = model.BF16
	}
	return nil
}

func (h headerReader) delim(want json.Delim) error {
	if t, err := h.Token(); err != nil {
		return err
	} else if t != want {
		return fmt.Errorf("found %.40v, want %v", t, want)
	}
	return nil
}

// text reads a string. The decoder turns what is not UTF-8, and half surrogate
// pairs, into U+FFFD, which no honest header has.
func (h headerReader) text() (string, error) {
	t, err := h.Token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok || strings.ContainsRune(s, '\uFFFD') {
		return "", fmt.Errorf("found %.40v, want text in UTF-8", t)
	}
	return s, nil
}

// numbers reads a list of at most limit whole numbers that fit an int64.
func (h headerReader) numbers(limit int) ([]uint64, error) {
	if err := h.delim('['); err != nil {
		return nil, err
	}
	var out []uint64
	for h.More() {
		t, err := h.Token()
		if err != nil {
			return nil, err
		}
		number, ok := t.(json.Number)
		if !ok || len(out) == limit {
			return nil, fmt.Errorf("found %.40v, want at most %d numbers", t, limit)
		}
		n, err := strconv.ParseUint(number.String(), 10, 63)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, h.delim(']')
}

// skip passes over a value that the format does not define.
func (h headerReader) skip() error {
	for depth := 0; ; {
		t, err := h.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxNestedJSON {
			return fmt.Errorf("nested deeper than %d", maxNestedJSON)
		}
		if depth == 0 {
			return nil
		}
	}
}
