package checkpoint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// Checkpoint is an opened model: its configuration, what text needs, and its
// tensors, which are read from the file when asked for. It is a weights.Source.
type Checkpoint struct {
	Path string // that Open was given

	Config     *model.Config
	Generation Generation

	TokenizerJSON []byte // tokenizer.json as it is in the folder; nil: none
	Vocab         *Vocab // the vocabulary of a GGUF file; nil: none
	ChatTemplate  string // Jinja source; "": none
	BOSToken      string // text of the special tokens, for chat templates; "": none
	EOSToken      string
	AddBOS        *bool // whether encoding puts BOS first (add_bos_token); nil: the file does not say

	tensors map[string]stored
	size    int64 // of the files that have them, in bytes
	files   []io.Closer
}

// stored is a tensor and how its bytes are got.
type stored struct {
	model.Tensor
	file   io.ReaderAt
	offset int64
	kind   string                 // the type as the file names it, also one that cannot be read
	read   func(dst []byte) error // nil: its bytes are those from offset on
}

// Tensors lists the tensors of the file under their Hugging Face names, in the
// order of the names. Shapes and sizes were checked against the file. A tensor
// of a type that cannot be read has DType Invalid and is refused by ReadTensor.
func (c *Checkpoint) Tensors() []model.Tensor {
	out := make([]model.Tensor, 0, len(c.tensors))
	for _, t := range c.tensors {
		out = append(out, t.Tensor)
	}
	slices.SortFunc(out, func(a, b model.Tensor) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Close closes the files. Tensors cannot be read after it.
func (c *Checkpoint) Close() error {
	err := closeAll(c.files)
	c.files = nil
	return err
}

// closeAll closes every file, and gives the first error.
func closeAll(files []io.Closer) error {
	var first error
	for _, f := range files {
		if err := f.Close(); err != nil && first == nil {
			first = fmt.Errorf("checkpoint: close: %w", err)
		}
	}
	return first
}
