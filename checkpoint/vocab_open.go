package checkpoint

import "fmt"

// OpenVocab reads the vocabulary of a GGUF file alone, which may have no tensors.
// Errors: ErrFormat, also for a file without a vocabulary; those of the file system.
func OpenVocab(path string) (v *Vocab, err error) {
	fields := &ggufFields{}
	if err = withGGUF(path, func(f *ggufFile) { fields.meta = f.meta }); err != nil {
		return nil, err
	}
	if v = readVocab(fields); fields.err != nil {
		return nil, fields.err
	}
	if v == nil {
		return nil, fmt.Errorf("%w: no vocabulary", ErrFormat)
	}
	return v, v.check(len(v.Tokens))
}
