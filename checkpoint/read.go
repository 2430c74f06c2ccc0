package checkpoint

import (
	"fmt"

	"github.com/cbactor/cbactor/model"
)

// ReadTensor reads a tensor's bytes as stored into dst, which has their length
// (model.Tensor.Bytes). Rows that GGUF interleaves per head are put back in Hugging
// Face's order. Errors name the tensor; one of a type that cannot be read wraps
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
	if t.heads > 0 {
		read = t.readInterleaved
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

// readInterleaved undoes the row order of llama.cpp's converter, which stores the
// two halves of each head's rows alternately (its rotary embedding turns
// neighbours, Hugging Face's turns rows half a head apart).
func (t *stored) readInterleaved(dst []byte) error {
	rows := t.Shape[0] / t.heads
	rowBytes := len(dst) / t.Shape[0]
	half := rows / 2
	head := make([]byte, rows*rowBytes)
	for h := range t.heads {
		at := h * len(head)
		if _, err := t.file.ReadAt(head, t.offset+int64(at)); err != nil {
			return err
		}
		for r := range rows {
			from := (r%half*2 + r/half) * rowBytes
			copy(dst[at+r*rowBytes:], head[from:from+rowBytes])
		}
	}
	return nil
}
