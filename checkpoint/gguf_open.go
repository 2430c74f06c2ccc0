package checkpoint

import (
	"fmt"
	"io"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// openGGUF makes a checkpoint of a GGUF file. The caller owns the file.
func openGGUF(file io.ReaderAt, size int64) (*Checkpoint, error) {
	f, err := readGGUF(file, size)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{tensors: make(map[string]stored, len(f.tensors)), size: size}
	arch, err := c.readGGUFConfig(f)
	if err != nil {
		return nil, err
	}
	for _, t := range f.tensors {
		one := stored{
			Tensor: model.Tensor{Name: t.name, DType: t.kind.dtype, Shape: t.shape},
			file:   file,
			offset: int64(t.offset),
			kind:   t.kind.name,
		}
		if t.name == ropeFreqs {
			err = c.readRopeFreqs(&one)
		} else {
			err = c.addGGUF(one, arch)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := c.checkFewest(); err != nil {
		return nil, err
	}
	if err := c.Config.Validate(); err != nil { // end tokens and divisors were added
		return nil, err
	}
	c.setStored()
	return c, nil
}

// addGGUF adds a tensor of the file under its Hugging Face name, or as those of experts.
func (c *Checkpoint) addGGUF(t stored, arch *ggufArch) error {
	p, ok := arch.place(t.Name, c.Config)
	if !ok {
		return fmt.Errorf("%w: tensor %q is not known for GGUF architecture %s of %d layers", model.ErrUnsupported, t.Name, arch.name, c.Config.Layers)
	}
	if p.experts != "" {
		return c.addExperts(t, p)
	}
	gguf := t
	t.Name = p.name
	if arch.raised && len(t.Shape) == 1 && strings.HasSuffix(t.Name, "norm.weight") {
		if t.DType != model.F32 {
			return fmt.Errorf("%w: norm %q is %s, want F32", ErrFormat, gguf.Name, t.kind)
		}
		t.read = gguf.readLowered
	}
	if heads := c.interleaved(arch, t.Name); heads > 0 {
		if t.Shape[0] != heads*c.Config.HeadDim {
			return fmt.Errorf("%w: %s has %d rows, want %d heads of %d", ErrFormat, t.Name, t.Shape[0], heads, c.Config.HeadDim)
		}
		t.read = func(dst []byte) error { return gguf.readInterleaved(dst, heads) }
	}
	c.tensors[t.Name] = t
	return nil
}

// addExperts cuts a tensor of all experts of a layer.
func (c *Checkpoint) addExperts(t stored, p ggufPlace) error {
	n := c.Config.MoE.Experts
	if len(t.Shape) != 3 || t.Shape[0] != n {
		return fmt.Errorf("%w: %s has the shape %v, want %d experts", ErrFormat, t.Name, t.Shape, n)
	}
	if err := checkCount(len(c.tensors)+n, c.size); err != nil {
		return fmt.Errorf("%w: each expert's counted, %w", ErrFormat, err)
	}
	all := t
	for e := range n {
		t.Name, t.Shape = c.Config.ExpertWeight(p.layer, e, p.experts).Tensor, all.Shape[1:]
		t.offset = all.offset + int64(e*t.Bytes())
		c.tensors[t.Name] = t
	}
	return nil
}

// readRopeFreqs reads the divisors of the rotary frequencies.
func (c *Checkpoint) readRopeFreqs(t *stored) error {
	n := c.Config.HeadDim / 2
	if t.DType != model.F32 || len(t.Shape) != 1 || t.Shape[0] != n {
		return fmt.Errorf("%w: %s is %s of shape %v, want F32 of [%d]", ErrFormat, t.Name, t.kind, t.Shape, n)
	}
	raw := make([]byte, t.Bytes())
	if err := t.readPlain(raw); err != nil {
		return fmt.Errorf("read tensor %q: %w", t.Name, err)
	}
	c.Config.Rope.FreqDivisors = make([]float32, n)
	model.Dequantize(c.Config.Rope.FreqDivisors, raw, model.F32)
	return nil
}

// interleaved is the number of heads of a tensor whose rows the converter has reordered, 0
// for none.
func (c *Checkpoint) interleaved(arch *ggufArch, name string) int {
	switch {
	case !arch.interleaved:
	case strings.Contains(name, ".q_proj."):
		return c.Config.Heads
	case strings.Contains(name, ".k_proj."):
		return c.Config.KVHeads
	}
	return 0
}
