package gateway

import (
	"fmt"
	"io"
	"io/fs"
	"sort"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// folder has the files of an adapter in memory, as a file system of files alone.
type folder struct{ files map[string]*file }

// file is a file as it comes, in pieces.
type file struct {
	name   string
	size   int64 // that it will have
	have   int64
	pieces []piece
}

type piece struct {
	at   int64
	data []byte
}

// pieceBytes is what a piece takes beside its data, at most.
const pieceBytes = 64

// add appends a piece.
func (f *file) add(data []byte) {
	if len(data) > 0 {
		f.pieces = append(f.pieces, piece{f.have, data})
		f.have += int64(len(data))
	}
}

// bytes is the memory that a file takes.
func (f *file) bytes() int64 { return f.have + pieceBytes*int64(len(f.pieces)) }

func (d *folder) bytes() (n int64) {
	for _, f := range d.files {
		n += f.bytes()
	}
	return n
}

// check refuses files that have not come whole.
func (d *folder) check() error {
	for _, f := range d.files {
		if f.have < f.size {
			return fmt.Errorf("%w: of %s %d bytes have come, of %d", engine.ErrAdapter, f.name, f.have, f.size)
		}
	}
	return nil
}

// Open implements fs.FS.
func (d *folder) Open(name string) (fs.File, error) {
	f := d.files[name]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &opened{SectionReader: io.NewSectionReader(f, 0, f.have), file: f}, nil
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	at := sort.Search(len(f.pieces), func(i int) bool { return f.pieces[i].at > off }) - 1
	for ; n < len(p) && at >= 0 && at < len(f.pieces); at++ {
		from := f.pieces[at]
		if skip := off + int64(n) - from.at; skip < int64(len(from.data)) {
			n += copy(p[n:], from.data[skip:])
		}
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// opened is a file that is read.
type opened struct {
	*io.SectionReader
	file *file
}

func (o *opened) Stat() (fs.FileInfo, error) { return info{o.file}, nil }
func (o *opened) Close() error               { return nil }

// info implements fs.FileInfo.
type info struct{ *file }

func (i info) Name() string     { return i.file.name }
func (i info) Size() int64      { return i.have }
func (info) Mode() fs.FileMode  { return 0o400 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }
