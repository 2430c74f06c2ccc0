package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/cbactor/cbactor/model"
)

// Stream is tensors that are read from the first byte to the last, as a weight update
// needs them: from a file, a folder, or whatever brings safetensors bytes.
// It belongs to one goroutine at a time.
type Stream struct {
	// Metadata is what the headers say of the whole (__metadata__), as a sparse update
	// says its base_version; at most 64 pairs of at most 1 KiB are kept. A later file's
	// go before an earlier one's.
	Metadata map[string]string
	parts    []part
	files    []io.Closer
	once     bool // it cannot be read again
	sent     bool
}

// Keys of Metadata, as https://github.com/huggingface/trl/pull/5417 has them.
const (
	MetaSparse  = "sparse"        // "true": what is not there stays as it is in the base
	MetaBase    = "base_version"  // that a sparse file is made from
	MetaVersion = "model_version" // that comes out
)

// part is one run of safetensors bytes, of which the header was read.
type part struct {
	name string           // what errors call it
	data func() io.Reader // from behind the header on
	list *spans
}

// Incoming is a tensor of a Stream. DType is the type as safetensors spells it.
type Incoming struct {
	Name  string
	DType string
	Shape []int
	Bytes int
}

// Put takes bytes of a tensor, from offset on: weights.Update.Put. data is only
// valid during the call.
type Put = func(name, dtype string, shape []int, offset int, data []byte) error

// sendChunk is the most bytes that are read at a time, a multiple of every number's.
const sendChunk = 1 << 20

// ReadStream reads the header of safetensors bytes from r. What follows is read by
// Send. Errors wrap ErrFormat, or are r's.
func ReadStream(r io.Reader) (*Stream, error) {
	s := &Stream{Metadata: map[string]string{}, once: true}
	list, _, err := readHeader(r, -1, s.Metadata)
	if err != nil {
		return nil, err
	}
	s.parts = []part{{"stream", func() io.Reader { return r }, list}}
	return s, nil
}

// OpenStream opens a safetensors file, or the files of a folder in the layout of
// the Hugging Face libraries, of which only the tensors are looked at. All are open
// when it returns: whoever wrote them may unlink or replace them, but not change
// their bytes before Send is done. Errors wrap ErrNotFound or ErrFormat. The caller
// closes the Stream.
func OpenStream(path string) (*Stream, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	folder, name := path, "."
	if !info.IsDir() {
		folder, name = filepath.Dir(path), filepath.Base(path)
	}
	s, err := OpenStreamIn(os.DirFS(folder), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// OpenStreamIn is OpenStream of a path in a file system, such as that of an os.Root.
func OpenStreamIn(fsys fs.FS, path string) (*Stream, error) {
	info, err := fs.Stat(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	s := &Stream{Metadata: map[string]string{}}
	if !info.IsDir() {
		err = s.openFile(fsys, path)
	} else if fsys, err = fs.Sub(fsys, path); err == nil {
		err = s.openFolder(fsys)
	}
	if err != nil {
		return nil, closeAfter(s, err)
	}
	return s, nil
}

func (s *Stream) openFolder(fsys fs.FS) error {
	all, err := findShards(fsys)
	if err != nil {
		return err
	}
	for _, file := range all.files {
		if err := s.openFile(fsys, file); err != nil {
			return err
		}
	}
	found := map[string]bool{}
	for _, p := range s.parts {
		for t := range p.list.all() {
			if err := all.placed(t.Name, p.name); err != nil {
				return err
			}
			found[t.Name] = true
		}
	}
	return all.complete(func(name string) bool { return found[name] })
}

func (s *Stream) openFile(fsys fs.FS, name string) error {
	file, at, size, err := openShardFile(fsys, name)
	if err != nil {
		return err
	}
	s.files = append(s.files, file)
	list, n, err := readHeader(file, size, s.Metadata)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	all := func() io.Reader { return io.NewSectionReader(at, n, math.MaxInt64-n) } // what was appended, too
	s.parts = append(s.parts, part{name, all, list})
	return nil
}

// Tensors lists what Send will send, in its order.
func (s *Stream) Tensors() []Incoming {
	var out []Incoming
	for _, p := range s.parts {
		for t := range p.list.all() {
			out = append(out, Incoming{t.Name, t.kind(), t.Shape, int(t.end - t.begin)})
		}
	}
	return out
}

// Send reads all tensors, in pieces of at most 1 MiB, and gives them to put. It ends
// with put's first error; with ErrFormat, naming the tensor, when the bytes end too
// early or go on after the last one; or with the reader's error. Files are sent any number
// of times, what ReadStream was given once: then it is ErrSent.
func (s *Stream) Send(put Put) error {
	if s.once && s.sent {
		return fmt.Errorf("%w: send a file or a folder", ErrSent)
	}
	s.sent = true
	buf := make([]byte, sendChunk)
	for _, p := range s.parts {
		if err := p.send(put, buf); err != nil {
			return err
		}
	}
	return nil
}

func (p part) send(put Put, buf []byte) error {
	data := p.data()
	for t := range p.list.all() {
		size := int(t.end - t.begin)
		for at := 0; at < size; at += sendChunk {
			chunk := buf[:min(sendChunk, size-at)]
			if n, err := io.ReadFull(data, chunk); err != nil {
				return p.cut(t.Tensor, at+n, err)
			}
			if err := put(t.Name, t.kind(), t.Shape, at, chunk); err != nil {
				return err
			}
		}
	}
	switch n, err := io.ReadFull(data, buf[:1]); {
	case n > 0:
		return fmt.Errorf("%w: %s goes on after the last tensor", ErrFormat, p.name)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read %s: %w", p.name, err)
	}
	return nil
}

// cut is the error of a tensor of which only some bytes could be read.
func (p part) cut(t model.Tensor, at int, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %s ends %d bytes into tensor %q: was it cut while it was read?", ErrFormat, p.name, at, t.Name)
	}
	return fmt.Errorf("read tensor %q of %s: %w", t.Name, p.name, err)
}

// Close closes the files of OpenStream.
func (s *Stream) Close() error {
	err := closeAll(s.files)
	s.files = nil
	return err
}
