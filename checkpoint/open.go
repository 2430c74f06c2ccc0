package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cbactor/cbactor/checkpoint/tiny"
	"github.com/cbactor/cbactor/model"
)

// Open opens a model: a folder in the layout of the Hugging Face libraries, a
// GGUF file, or Embedded. It reads what describes the model, not its weights.
// Errors wrap ErrNotFound, ErrFormat, model.ErrConfig or model.ErrUnsupported and
// name the file. The caller closes the Checkpoint.
func Open(path string) (*Checkpoint, error) {
	c, err := openAt(path)
	if err == nil {
		c.Path = path
	}
	return c, err
}

func openAt(path string) (*Checkpoint, error) {
	if path == Embedded {
		return openFolder(tiny.FS)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %q is neither a folder nor a file%s", ErrNotFound, path, resolvable(path))
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	case info.IsDir():
		c, err := openFolder(os.DirFS(path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return c, nil
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %q is not a file", ErrNotFound, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	c, err := openGGUF(file, info.Size())
	if err != nil {
		return nil, closeAfter(file, fmt.Errorf("%s: %w", path, err))
	}
	c.files = append(c.files, file)
	return c, nil
}

// resolvable tells who gives a name where a path belongs how to come by the path.
func resolvable(name string) string {
	if _, known := assets[name]; known || name == "" {
		return ": Resolve gives the path of a model by its name"
	}
	return ""
}

// closeAfter closes what was in use when err, which may be nil, came up. A failure
// to close is reported on the same line.
func closeAfter(c io.Closer, err error) error {
	closing := c.Close()
	switch {
	case closing == nil:
		return err
	case err == nil:
		return closing
	}
	return fmt.Errorf("%w (and %w)", err, closing)
}

// openFile opens a regular file of a folder that will be read at offsets.
func openFile(fsys fs.FS, name string) (fs.File, io.ReaderAt, int64, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, 0, fmt.Errorf("%w: %s is not a file", ErrFormat, name)
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, nil, 0, err
	}
	at, ok := file.(io.ReaderAt)
	if !ok {
		return nil, nil, 0, closeAfter(file, fmt.Errorf("%s cannot be read at offsets", name))
	}
	return file, at, info.Size(), nil
}

// readSmall reads a whole file of at most limit bytes. ok is false when there is none.
func readSmall(fsys fs.FS, name string, limit int64) (data []byte, ok bool, err error) {
	file, at, size, err := openFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer func() { err = closeAfter(file, err) }()
	if size > limit {
		return nil, false, fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrFormat, name, size, limit)
	}
	data = make([]byte, size)
	if _, err := at.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, false, fmt.Errorf("read %s: %w", name, err)
	}
	return data, true, nil
}

// setStored notes the type that most of the weights are stored in.
func (c *Checkpoint) setStored() {
	count := map[model.DType]int{}
	best := model.Invalid
	for _, t := range c.tensors {
		if t.DType == model.Invalid {
			continue
		}
		count[t.DType] += t.Elements()
		if count[t.DType] > count[best] {
			best = t.DType
		}
	}
	c.Config.Stored = best
}
