package checkpoint

import (
	"fmt"
	"io"

	"github.com/cbactor/cbactor/model"
)

// openGGUF makes a checkpoint of a GGUF file. The caller owns the file.
func openGGUF(file io.ReaderAt, size int64) (*Checkpoint, error) {
	f, err := readGGUF(file, size)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{tensors: make(map[string]stored, len(f.tensors))}
	var divisors *ggufTensor
	for i, t := range f.tensors {
		if t.name == ropeFreqs {
			divisors = &f.tensors[i]
			continue
		}
		name, ok := hfName(t.name)
		if !ok {
			return nil, fmt.Errorf("%w: tensor %q is not known", model.ErrUnsupported, t.name)
		}
		c.tensors[name] = stored{
			Tensor: model.Tensor{Name: name, DType: t.kind.dtype, Shape: t.shape},
			file:   file,
			offset: int64(t.offset),
			kind:   t.kind.name,
		}
	}
	if err := c.readGGUFConfig(f); err != nil {
		return nil, err
	}
	if divisors != nil {
		if err := c.readRopeFreqs(file, divisors); err != nil {
			return nil, err
		}
	}
	if err := c.Config.Validate(); err != nil {
		return nil, err
	}
	if err := c.markInterleaved(); err != nil {
		return nil, err
	}
	c.setStored()
	return c, nil
}

// readRopeFreqs reads the divisors of the rotary frequencies.
func (c *Checkpoint) readRopeFreqs(file io.ReaderAt, t *ggufTensor) error {
	n := c.Config.HeadDim / 2
	if t.kind.dtype != model.F32 || len(t.shape) != 1 || t.shape[0] != n {
		return fmt.Errorf("%w: %s is %s of shape %v, want F32 of [%d]", ErrFormat, t.name, t.kind.name, t.shape, n)
	}
	raw := make([]byte, t.size)
	if _, err := file.ReadAt(raw, int64(t.offset)); err != nil {
		return fmt.Errorf("read tensor %q: %w", t.name, err)
	}
	c.Config.Rope.FreqDivisors = make([]float32, n)
	model.Dequantize(c.Config.Rope.FreqDivisors, raw, model.F32)
	return nil
}

// markInterleaved finds the tensors whose rows ReadTensor puts back in order.
func (c *Checkpoint) markInterleaved() error {
	for l := range c.Config.Layers {
		for part, heads := range map[string]int{"q": c.Config.Heads, "k": c.Config.KVHeads} {
			for _, kind := range []string{"weight", "bias"} {
				name := model.LayerPrefix(l) + "self_attn." + part + "_proj." + kind
				t, ok := c.tensors[name]
				if !ok {
					continue
				}
				if t.Shape[0] != heads*c.Config.HeadDim {
					return fmt.Errorf("%w: %s has %d rows, want %d heads of %d", ErrFormat, name, t.Shape[0], heads, c.Config.HeadDim)
				}
				t.heads = heads
				c.tensors[name] = t
			}
		}
	}
	return nil
}
