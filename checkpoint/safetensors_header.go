package checkpoint

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/cbactor/cbactor/model"
)

// headerReader walks the JSON of a header.
type headerReader struct {
	*jsonReader
	meta map[string]string // what the header says of the whole; nil: nobody asks
	dims []int             // memory of shapes
}

// What is kept of it.
const (
	maxMetadata     = 64   // pairs
	maxMetadataText = 1024 // bytes of one
)

func (h *headerReader) header() (*spans, error) {
	list := &spans{}
	described := false
	h.take('{')
	for n := 0; h.more('}', &n); {
		name := string(h.key(maxTensorName))
		switch {
		case h.err != nil:
		case name != "__metadata__":
			list.add(h.tensor(name))
		case described:
			h.fail(errors.New("it is there twice"))
		default:
			described = true
			h.metadata()
		}
		if h.err != nil {
			return nil, fmt.Errorf("%.80q: %w", name, h.err)
		}
		if list.len() > maxTensors {
			return nil, fmt.Errorf("more than %d tensors", maxTensors)
		}
	}
	h.end()
	return list, h.err
}

// metadata checks that it maps text to text, and keeps what is not too much.
func (h *headerReader) metadata() {
	h.take('{')
	for n := 0; h.more('}', &n); {
		key := string(h.key(maxMetadataText))
		value := h.text(maxMetadataText)
		if h.meta != nil && len(h.meta) < maxMetadata && len(key)+len(value) <= maxMetadataText {
			h.meta[key] = string(value)
		}
	}
}

func (h *headerReader) tensor(name string) span {
	s := span{Tensor: model.Tensor{Name: name}}
	if len(name) > maxTensorName {
		h.fail(fmt.Errorf("a name of more than %d bytes", maxTensorName))
	}
	var dtype, shape, offsets bool
	once := func(seen *bool) {
		if *seen {
			h.fail(errors.New("a field is there twice"))
		}
		*seen = true
	}
	h.take('{')
	for n := 0; h.more('}', &n); {
		switch string(h.key(len("data_offsets"))) {
		case "dtype":
			once(&dtype)
			h.dtype(&s)
		case "shape":
			once(&shape)
			s.Shape = h.shape()
		case "data_offsets":
			once(&offsets)
			s.begin, s.end = h.offsets()
		default: // the format does not define it
			h.skip()
		}
	}
	switch {
	case h.err != nil:
	case !dtype || !shape || !offsets:
		h.fail(errors.New("dtype, shape and data_offsets are needed"))
	default:
		if err := s.checkSize(); err != nil {
			h.fail(err)
		}
	}
	return s
}

func (h *headerReader) dtype(s *span) {
	name := h.text(maxJSONNumber)
	for i := range safetensorsTypes {
		if string(name) == safetensorsTypes[i].name {
			s.typed, s.DType = uint8(i), safetensorsTypes[i].dtype
			return
		}
	}
	h.fail(fmt.Errorf("dtype %.40q is not known", name))
}

func (h *headerReader) shape() []int {
	if cap(h.dims)-len(h.dims) < maxRank {
		h.dims = make([]int, 0, 64*maxRank)
	}
	from := len(h.dims)
	h.take('[')
	for n := 0; h.more(']', &n); {
		if n > maxRank {
			h.fail(fmt.Errorf("more than %d dimensions", maxRank))
			return nil
		}
		h.dims = append(h.dims, int(h.whole()))
	}
	return h.dims[from:len(h.dims):len(h.dims)]
}

func (h *headerReader) offsets() (begin, end uint64) {
	h.take('[')
	begin = h.whole()
	h.take(',')
	end = h.whole()
	h.take(']')
	return begin, end
}

// checkSize compares shape and type with the span.
func (s *span) checkSize() error {
	n := safetensorsTypes[s.typed].bits
	for _, d := range s.Shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			return fmt.Errorf("shape %v is too large", s.Shape)
		}
		n = lo
	}
	if s.end < s.begin || n%8 != 0 || s.end-s.begin != n/8 {
		return fmt.Errorf("%s of shape %v does not fill the bytes %d to %d", s.kind(), s.Shape, s.begin, s.end)
	}
	return nil
}
