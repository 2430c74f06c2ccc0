package weights

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/model"
)

var (
	// ErrMissing means that a tensor of the model is not in the source.
	ErrMissing = errors.New("weights: tensor is missing")
	// ErrShape means that a tensor has another shape than the configuration says.
	ErrShape = errors.New("weights: tensor has a wrong shape")
	// ErrUnknown means that the source has a tensor which the model does not use.
	ErrUnknown = errors.New("weights: tensor is none of the model's")
	// ErrRead means that the source could not give a tensor.
	ErrRead = errors.New("weights: tensor cannot be read")
)

// align is where tensors begin within a set: at cache lines.
const align = 64

// Source is where a set is loaded from: a checkpoint file, a folder, a stream.
// ReadTensor fills dst, which has the tensor's size, with its bytes as stored
// (little-endian, row-major). A tensor of a storage type that cannot be read is
// listed with DType Invalid, and ReadTensor's error names the type.
type Source interface {
	Tensors() []model.Tensor
	ReadTensor(name string, dst []byte) error
}

// Load reads every tensor of cfg once. All names, shapes and types are checked
// before memory is taken, which is one allocation of the sum of the tensors'
// stored sizes, each rounded up to 64 bytes. What src has beyond cfg is refused
// unless cfg calls it redundant. Errors wrap ErrMissing, ErrUnknown, ErrShape or
// ErrRead and name the tensor.
func Load(cfg *model.Config, src Source, epoch uint32, version string) (*Set, error) {
	list, err := match(cfg, src)
	if err != nil {
		return nil, err
	}
	arena := make([]byte, size(list))
	set := &Set{Epoch: epoch, Version: version, tensors: make(map[string]Tensor, len(list))}
	for _, t := range list {
		n := t.Bytes()
		data := arena[:n:n]
		arena = arena[(n+align-1)&^(align-1):]
		if err := src.ReadTensor(t.Name, data); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRead, err)
		}
		set.tensors[t.Name] = Tensor{Tensor: t, Data: data}
	}
	return set, nil
}

// Size is how many bytes Load takes. Errors are Load's that need no tensor read.
func Size(cfg *model.Config, src Source) (int, error) {
	list, err := match(cfg, src)
	return size(list), err
}

func size(list []model.Tensor) int {
	total := 0
	for _, t := range list {
		total += (t.Bytes() + align - 1) &^ (align - 1)
	}
	return total
}

// match pairs the tensors of the model with those of the source.
func match(cfg *model.Config, src Source) ([]model.Tensor, error) {
	want := cfg.Tensors()
	if len(want) == 0 {
		return nil, fmt.Errorf("%w: family %q has no table of tensors", ErrMissing, cfg.Family)
	}
	have := make(map[string]model.Tensor)
	for _, t := range src.Tensors() {
		have[t.Name] = t
	}
	list := make([]model.Tensor, 0, len(want))
	for _, w := range want {
		t, ok := have[w.Name]
		if !ok {
			return nil, fmt.Errorf("%w: %s; the file is incomplete, or its configuration is of another model", ErrMissing, w.Name)
		}
		if err := check(t, w, src); err != nil {
			return nil, err
		}
		list = append(list, t)
		delete(have, w.Name)
	}
	for _, t := range src.Tensors() {
		if _, left := have[t.Name]; left && !cfg.Redundant(t.Name) {
			return nil, fmt.Errorf("%w: %s; does the configuration fit the file?", ErrUnknown, t.Name)
		}
	}
	return list, nil
}

// check compares the shape and type of a found tensor with the wanted one.
func check(t, want model.Tensor, src Source) error {
	if !slices.Equal(t.Shape, want.Shape) {
		return fmt.Errorf("%w: %s is %v, the configuration says %v", ErrShape, t.Name, t.Shape, want.Shape)
	}
	if t.DType == model.Invalid {
		return fmt.Errorf("%w: %w", ErrRead, src.ReadTensor(t.Name, nil))
	}
	if row := t.Shape[len(t.Shape)-1]; row%t.DType.Block() != 0 {
		return fmt.Errorf("%w: %s has rows of %d, %s needs multiples of %d", ErrShape, t.Name, row, t.DType, t.DType.Block())
	}
	return nil
}
