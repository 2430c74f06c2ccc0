package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// readIndex reads the weight_map of the index: the file of each tensor; nil: there is none.
func readIndex(fsys fs.FS) (index map[string]string, err error) {
	file, at, size, err := openFile(fsys, indexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = closeAfter(file, err) }()
	if size > maxIndexFile {
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrFormat, indexFile, size, maxIndexFile)
	}
	r := indexReader{newJSONReader(io.NewSectionReader(at, 0, size)), size}
	if index = r.index(); r.err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFormat, indexFile, r.err)
	}
	return index, nil
}

// indexReader walks the JSON of an index of so many bytes.
type indexReader struct {
	*jsonReader
	size int64
}

func (r indexReader) index() (index map[string]string) {
	r.take('{')
	for n := 0; r.more('}', &n); {
		switch {
		case string(r.key(len("weight_map"))) != "weight_map" || r.next() == 'n':
			r.skip()
		case index != nil:
			r.fail(errors.New("weight_map is there twice"))
		default:
			index = r.weightMap()
		}
	}
	r.end()
	return index
}

// weightMap refuses more tensors than an index of its size has room for with their names, so
// that it costs no more memory than twice its bytes.
func (r indexReader) weightMap() map[string]string {
	const free, each = 1024, 64
	most := int(min(free+r.size/each, maxTensors))
	index, files := map[string]string{}, map[string]string{}
	r.take('{')
	for n := 0; r.more('}', &n); {
		name := string(r.key(maxTensorName))
		file := r.text(maxTensorName)
		shared, ok := files[string(file)] // one text for all tensors of a file
		if !ok {
			shared = string(file)
			files[shared] = shared
		}
		if _, twice := index[name]; twice {
			r.fail(fmt.Errorf("tensor %.80q is there twice", name))
		}
		if index[name] = shared; n > most {
			r.fail(fmt.Errorf("%d bytes name more than %d tensors", r.size, most))
		}
	}
	return index
}
