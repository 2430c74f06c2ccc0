package weights

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/cbactor/cbactor/model"
)

// Tensor is a stored tensor with its bytes.
type Tensor struct {
	model.Tensor
	Data   []byte
	Turned bool // the last two dimensions are seen the other way round: rows are columns
	From   int  // rows are seen from this number on, which begins a block of the type
}

// Row widens one row to float32: dst has the length of the tensor's last
// dimension, and row counts over all dimensions before it. A tensor of one
// dimension is row 0. The values are exactly those that the type defines. It does not
// allocate, and panics when dst or row does not fit the tensor, as an index would.
func (t Tensor) Row(dst []float32, row int) { t.Part(dst, row, 0) }

// Part widens as many numbers of a row as dst has, from one on that begins a block of
// the type, otherwise as Row does.
func (t Tensor) Part(dst []float32, row, from int) {
	from += t.From
	if t.Turned {
		t.column(dst, row, from)
		return
	}
	n := t.DType.RowBytes(t.Shape[len(t.Shape)-1])
	model.Dequantize(dst, t.Data[row*n : (row+1)*n][t.DType.RowBytes(from):], t.DType)
}

// column is Part of a turned tensor, whose type has no blocks.
func (t Tensor) column(dst []float32, row, from int) {
	last := len(t.Shape) - 1
	in, out := t.Shape[last-1], t.Shape[last]
	size := t.DType.RowBytes(1)
	data := t.Data[(row/out*in*out+row%out)*size : (row/out+1)*in*out*size]
	for i := range dst {
		model.Dequantize(dst[i:i+1], data[(from+i)*out*size:], t.DType)
	}
}

// Set is all weights of a model.
type Set struct {
	Epoch   uint32 // counts sets, starts at 1
	Version string // the user's name for it
	tensors map[string]held
}

// held is a tensor and the memory that it is cut from.
type held struct {
	Tensor
	block *block
}

// Tensor looks a tensor up by its Hugging Face name.
func (s *Set) Tensor(name string) (Tensor, bool) {
	t, ok := s.tensors[name]
	return t.Tensor, ok
}

// Fits makes sure that the set has a model's tensors, whole and in their shapes.
func (s *Set) Fits(m *model.Config) error {
	for _, want := range m.Tensors() {
		t, ok := s.Tensor(want.Name)
		if !ok {
			return fmt.Errorf("weight set has no %s", want.Name)
		}
		if shape := want.As(t.DType).Shape; !slices.Equal(t.Shape, shape) || t.DType == model.Invalid || len(t.Data) != t.Bytes() {
			return fmt.Errorf("%s is %s %v of %d bytes, the model has %v", want.Name, t.DType, t.Shape, len(t.Data), shape)
		}
	}
	return nil
}

// All walks over the tensors in the order of their names. Their bytes are the
// set's own and must not be written.
func (s *Set) All() iter.Seq[Tensor] {
	return func(yield func(Tensor) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.tensors)) {
			if !yield(s.tensors[name].Tensor) {
				return
			}
		}
	}
}

// Tensors says what the tensors are stored as, in the order of their names.
func (s *Set) Tensors() []model.Tensor {
	list := make([]model.Tensor, 0, len(s.tensors))
	for t := range s.All() {
		list = append(list, t.Tensor)
	}
	return list
}

// Bytes is the stored size of the whole set.
func (s *Set) Bytes() int {
	n := 0
	for _, t := range s.tensors {
		n += len(t.Data)
	}
	return n
}

// Digest is the WholeDigest of all tensors as they are stored. It reads them all.
func (s *Set) Digest(kind DigestKind) Digest {
	sums := make(map[string]Digest, len(s.tensors))
	for name, t := range s.tensors {
		sums[name] = Sum(kind, t.Data)
	}
	return WholeDigest(kind, sums)
}

// blocks are the pieces of memory that a set has tensors in, each once.
func (s *Set) blocks() []*block {
	seen := map[*block]bool{}
	for _, t := range s.tensors {
		seen[t.block] = true
	}
	return slices.Collect(maps.Keys(seen))
}
