package checkpoint

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// Safetensors has no types with scales, so what is stored in such is a pair of tensors
// there. It is one here, under the name of the weights.
const (
	mxfp4Blocks, mxfp4Scales = "_blocks", "_scales" // behind the name, as gpt-oss ships it
	fp8Scales                = "_scale_inv"         // behind the name, as DeepSeek ships it
)

// joinPairs puts them together. Errors name the tensor.
func (c *Checkpoint) joinPairs() error {
	for _, name := range slices.Sorted(maps.Keys(c.tensors)) {
		t := c.tensors[name] // nothing, where it was joined already
		base, packed := strings.CutSuffix(name, mxfp4Blocks)
		scales, ok := c.tensors[base+mxfp4Scales]
		join, gone := joinMXFP4, []string{name, base + mxfp4Scales}
		if t.kind == "F8_E4M3" {
			base = name
			scales, ok = c.tensors[base+fp8Scales]
			join, gone = joinFP8, []string{base + fp8Scales}
		} else if !packed || t.kind != "U8" {
			continue
		}
		if !ok {
			return fmt.Errorf("%w: tensor %.80q is stored as %s, and its scales are missing", ErrFormat, name, t.kind)
		}
		if _, twice := c.tensors[base]; twice && base != name {
			return fmt.Errorf("%w: tensor %.80q is there twice: as it is, and as blocks with scales", ErrFormat, base)
		}
		one, err := join(base, t, scales)
		if err != nil {
			return err
		}
		for _, name := range gone {
			delete(c.tensors, name)
		}
		c.tensors[base] = one
	}
	return nil
}

// joinMXFP4 makes one tensor of blocks [..., n, 16] and scales [..., n]: its rows are 32n long.
func joinMXFP4(name string, blocks, scales stored) (stored, error) {
	rank := len(scales.Shape)
	if rank < 1 || scales.kind != "U8" || !slices.Equal(blocks.Shape, append(slices.Clone(scales.Shape), 16)) {
		return stored{}, fmt.Errorf("%w: %.80q is %s %v, and its scales are %s %v, want U8 of [..., n, 16] and [..., n]", ErrFormat, blocks.Name, blocks.kind, blocks.Shape, scales.kind, scales.Shape)
	}
	shape := slices.Clone(scales.Shape)
	shape[rank-1] *= model.MXFP4.Block()
	one := stored{Tensor: model.Tensor{Name: name, DType: model.MXFP4, Shape: shape}, kind: model.MXFP4.String()}
	one.read = func(dst []byte) error { return readMXFP4(dst, blocks.reader(), scales.reader()) }
	return one, nil
}

// readMXFP4 makes ggml's blocks: a scale, and byte i with numbers i and i+16. What is read
// has numbers 2i and 2i+1 in byte i.
func readMXFP4(dst []byte, blocks, scales io.Reader) error {
	b := make([]byte, 16)
	for size := model.MXFP4.RowBytes(model.MXFP4.Block()); len(dst) > 0; dst = dst[size:] {
		if _, err := io.ReadFull(scales, dst[:1]); err != nil {
			return err
		}
		if _, err := io.ReadFull(blocks, b); err != nil {
			return err
		}
		for i := range 8 {
			dst[1+2*i] = b[i]&15 | b[i+8]<<4
			dst[2+2*i] = b[i]>>4 | b[i+8]&0xf0
		}
	}
	return nil
}

// joinFP8 makes one tensor of numbers [out, in] and their scales, which are weights
// divided by what is stored, for each square.
func joinFP8(name string, numbers, scales stored) (stored, error) {
	squares := func(n int) int { return (n + model.FP8Square - 1) / model.FP8Square }
	if len(numbers.Shape) != 2 {
		return stored{}, fmt.Errorf("%w: %.80q is %s %v with scales, which only matrices have", model.ErrUnsupported, name, numbers.kind, numbers.Shape)
	}
	rows, in := numbers.Shape[0], numbers.Shape[1]
	if in%model.FP8Square != 0 {
		return stored{}, fmt.Errorf("%w: %.80q has rows of %d, %s needs multiples of %d", model.ErrUnsupported, name, in, numbers.kind, model.FP8Square)
	}
	if scales.DType == model.Invalid || !slices.Equal(scales.Shape, []int{squares(rows), squares(in)}) {
		return stored{}, fmt.Errorf("%w: %.80q is %s %v, want floats of %v for %s of %v", ErrFormat, scales.Name, scales.kind, scales.Shape, []int{squares(rows), squares(in)}, name, numbers.Shape)
	}
	one := stored{Tensor: model.Tensor{Name: name, DType: model.FP8, Shape: numbers.Shape}, kind: numbers.kind}
	one.read = func(dst []byte) error {
		raw := make([]byte, scales.Bytes())
		if err := scales.readPlain(raw); err != nil {
			return err
		}
		d := make([]float32, scales.Elements())
		model.Dequantize(d, raw, scales.DType)
		return readFP8(dst, numbers.reader(), d, squares(in))
	}
	return one, nil
}

// readFP8 puts before each 128 numbers their scale, of which there are so many for each
// 128 rows.
func readFP8(dst []byte, numbers io.Reader, scales []float32, perRow int) error {
	size := model.FP8.RowBytes(model.FP8.Block())
	for at := 0; len(dst) > 0; at++ {
		row, square := at/perRow, at%perRow
		binary.LittleEndian.PutUint32(dst, math.Float32bits(scales[row/model.FP8Square*perRow+square]))
		if _, err := io.ReadFull(numbers, dst[4:size]); err != nil {
			return err
		}
		dst = dst[size:]
	}
	return nil
}

// reader reads a tensor's bytes as they lie in the file.
func (t *stored) reader() io.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(t.file, t.offset, math.MaxInt64-t.offset), 1<<16)
}
