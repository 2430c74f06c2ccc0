package checkpoint

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cbactor/cbactor/model"
)

// convertChunk is how many numbers are converted at a time, a multiple of every block.
const convertChunk = 1 << 14

// writeBF16Tensors writes the tensors of the model as one safetensors file.
func (c *Checkpoint) writeBF16Tensors(path string) (err error) {
	list := c.Config.Tensors()
	for i, want := range list {
		t, ok := c.tensors[want.Name]
		if !ok || !slices.Equal(t.Shape, want.Shape) {
			return fmt.Errorf("%w: no tensor %s of shape %v", ErrFormat, want.Name, want.Shape)
		}
		list[i] = t.Tensor
	}
	header, err := bf16Header(list)
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(file, err) }()
	out := bufio.NewWriterSize(file, 1<<20)
	if _, err := out.Write(header); err != nil {
		return err
	}
	for _, t := range list {
		data := make([]byte, t.Bytes())
		if err := c.ReadTensor(t.Name, data); err != nil {
			return err
		}
		if err := writeBF16(out, data, t); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Sync() // the rename that follows must not be there before the data
}

// bf16Header makes the header, with the length before it, padded to eight bytes.
func bf16Header(list []model.Tensor) ([]byte, error) {
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	fields := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	at := 0
	for _, t := range list {
		end := at + model.BF16.RowBytes(t.Elements())
		fields[t.Name] = entry{"BF16", t.Shape, [2]int{at, end}}
		at = end
	}
	js, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	for len(js)%8 != 0 {
		js = append(js, ' ')
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(js))), js...), nil
}

// writeBF16 converts the stored numbers of a tensor.
func writeBF16(out io.Writer, data []byte, t model.Tensor) error {
	wide := make([]float32, convertChunk)
	narrow := make([]byte, 0, 2*convertChunk)
	for left := t.Elements(); left > 0; {
		part := wide[:min(left, len(wide))]
		model.Dequantize(part, data, t.DType)
		data = data[t.DType.RowBytes(len(part)):]
		left -= len(part)
		narrow = narrow[:0]
		for _, x := range part {
			narrow = binary.LittleEndian.AppendUint16(narrow, model.ToBF16(x))
		}
		if _, err := out.Write(narrow); err != nil {
			return err
		}
	}
	return nil
}
