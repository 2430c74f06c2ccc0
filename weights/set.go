package weights

import "github.com/cbactor/cbactor/model"

// Tensor is a stored tensor with its bytes.
type Tensor struct {
	model.Tensor
	Data []byte
}

// Row widens one row to float32: dst has the length of the tensor's last
// dimension, and row counts over all dimensions before it. A tensor of one
// dimension is row 0. The values are exactly those that the type defines. It does not
// allocate, and panics when dst or row does not fit the tensor, as an index would.
func (t Tensor) Row(dst []float32, row int) {
	n := t.DType.RowBytes(t.Shape[len(t.Shape)-1])
	model.Dequantize(dst, t.Data[row*n:(row+1)*n], t.DType)
}

// Set is all weights of a model.
type Set struct {
	Epoch   uint32 // counts sets, starts at 1
	Version string // the user's name for it
	tensors map[string]Tensor
}

// Tensor looks a tensor up by its Hugging Face name.
func (s *Set) Tensor(name string) (Tensor, bool) {
	t, ok := s.tensors[name]
	return t, ok
}

// Bytes is the stored size of the whole set.
func (s *Set) Bytes() int {
	n := 0
	for _, t := range s.tensors {
		n += len(t.Data)
	}
	return n
}
