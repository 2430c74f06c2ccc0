package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
)

// OpenVocab reads the vocabulary of a GGUF file alone, which may have no tensors.
// Errors: ErrFormat, also for a file without a vocabulary; those of the file system.
func OpenVocab(path string) (v *Vocab, err error) {
	file, at, size, err := openFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer func() { err = closeAfter(file, err) }()
	f, err := readGGUF(at, size)
	if err != nil {
		return nil, err
	}
	fields := &ggufFields{meta: f.meta}
	if v = readVocab(fields); fields.err != nil {
		return nil, fields.err
	}
	if v == nil {
		return nil, fmt.Errorf("%w: no vocabulary", ErrFormat)
	}
	return v, v.check(len(v.Tokens))
}
