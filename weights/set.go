// Package weights holds weight sets: the tensors of one model under their
// Hugging Face names, whatever file they came from, in one storage type each.
//
// Ownership: a Set is read-only once it was loaded; what an executor derives
// from it (packed, widened) belongs to the executor's view of that set and dies
// with it. Concurrency: a loaded Set may be read from any goroutine.
package weights

import (
	"fmt"

	"github.com/cbactor/cbactor/model"
)

// Source is where a set is loaded from: a checkpoint file, a folder, a stream.
// ReadTensor fills dst, which has the tensor's size, with its bytes as stored
// (little-endian, row-major).
type Source interface {
	Tensors() []model.Tensor
	ReadTensor(name string, dst []byte) error
}

// Tensor is a stored tensor with its bytes.
type Tensor struct {
	model.Tensor
	Data []byte
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

var _ = fmt.Errorf
