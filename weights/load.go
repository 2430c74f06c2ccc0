package weights

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/model"
)

// Source is where a set is loaded from: a checkpoint file, a folder, a stream.
// ReadTensor fills dst, which has the tensor's size, with its bytes as stored
// (little-endian, row-major). A tensor of a storage type that cannot be read is
// listed with DType Invalid, and ReadTensor's error names the type.
type Source interface {
	Tensors() []model.Tensor
	ReadTensor(name string, dst []byte) error
}

// Load reads every tensor of cfg once. All names, shapes and types are checked
// before memory is taken, for each tensor by itself: a set that has another in its
// place lets it go. They are rounded up to 64 bytes. What src has beyond cfg is refused
// unless cfg calls it redundant. Errors wrap ErrMissing, ErrUnknown, ErrShape, ErrTied or
// ErrRead and name the tensor.
func Load(cfg *model.Config, src Source, epoch uint32, version string) (*Set, error) {
	list, err := match(cfg, src)
	if err != nil {
		return nil, err
	}
	set := &Set{Epoch: epoch, Version: version, tensors: make(map[string]held, len(list))}
	for _, t := range list {
		n := t.Bytes()
		own := &block{size: aligned(n)}
		own.open()
		data := own.data[:n:n]
		if err := src.ReadTensor(t.Name, data); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRead, err)
		}
		set.tensors[t.Name] = held{Tensor{Tensor: t, Data: data}, own}
	}
	if err := checkTied(cfg, src, set); err != nil {
		return nil, err
	}
	return set, nil
}

// checkTied makes sure that a head that was written out although it is the embedding is it:
// the reference computes with one that differs.
func checkTied(cfg *model.Config, src Source, set *Set) error {
	const head, embedding = "lm_head.weight", "model.embed_tokens.weight"
	if !cfg.TiedHead {
		return nil
	}
	all := src.Tensors()
	i := slices.IndexFunc(all, func(t model.Tensor) bool { return t.Name == head })
	if i < 0 {
		return nil
	}
	t, own := all[i], set.tensors[embedding]
	if t.DType == own.DType && slices.Equal(t.Shape, own.Shape) {
		written := make([]byte, t.Bytes())
		if err := src.ReadTensor(head, written); err != nil {
			return fmt.Errorf("%w: %w", ErrRead, err)
		}
		if bytes.Equal(written, own.Data) {
			return nil
		}
	}
	return fmt.Errorf("%w: the file has a %s of its own: tie_word_embeddings must be false", ErrTied, head)
}

// Size is how many bytes Load takes. Errors are Load's that need no tensor read.
func Size(cfg *model.Config, src Source) (int, error) {
	list, err := match(cfg, src)
	return size(list), err
}

func size(list []model.Tensor) int {
	total := 0
	for _, t := range list {
		total += aligned(t.Bytes())
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
	if shape := want.As(t.DType).Shape; !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("%w: %s is %v, the configuration says %v", ErrShape, t.Name, t.Shape, shape)
	}
	if t.DType == model.Invalid {
		return fmt.Errorf("%w: %w", ErrRead, src.ReadTensor(t.Name, nil))
	}
	if row := t.Shape[len(t.Shape)-1]; row%t.DType.Block() != 0 {
		return fmt.Errorf("%w: %s has rows of %d, %s needs multiples of %d", ErrShape, t.Name, row, t.DType, t.DType.Block())
	}
	return nil
}
