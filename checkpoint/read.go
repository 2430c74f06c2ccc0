package checkpoint

import (
	"fmt"

	"github.com/cbactor/cbactor/model"
)

// ReadTensor reads a tensor's bytes as stored into dst, which has their length
// (model.Tensor.Bytes). What a file has in another order than Hugging Face's is put into
// that. Errors name the tensor; one of a type that cannot be read wraps
// model.ErrUnsupported.
func (c *Checkpoint) ReadTensor(name string, dst []byte) error {
	t, ok := c.tensors[name]
	switch {
	case !ok:
		return fmt.Errorf("%w: no tensor %.80q", ErrFormat, name)
	case t.DType == model.Invalid:
		return fmt.Errorf("%w: tensor %q is stored as %s, which cannot be read", model.ErrUnsupported, name, t.kind)
	case len(dst) != t.Bytes():
		return fmt.Errorf("tensor %q has %d bytes, not %d", name, t.Bytes(), len(dst))
	}
	read := t.readPlain
	if t.read != nil {
		read = t.read
	}
	if err := read(dst); err != nil {
		return fmt.Errorf("read tensor %q: %w", name, err)
	}
	return nil
}

func (t *stored) readPlain(dst []byte) error {
	if len(dst) == 0 {
		return nil
	}
	_, err := t.file.ReadAt(dst, t.offset)
	return err
}
