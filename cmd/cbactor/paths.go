package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

// pathFlag is a flag that names a file. An empty name is refused: it is what a shell
// makes of a variable that is not set.
type pathFlag struct {
	path *string
	made bool // the command makes the file, so that "-" is refused, too
}

var _ pflag.Value = pathFlag{}

// Set implements pflag.Value.
func (v pathFlag) Set(text string) error {
	switch {
	case text == "":
		return errors.New("the name is empty: give one, or leave the flag out")
	case text == "-" && v.made:
		return errors.New("it is not written to standard output: give the name of a file")
	}
	*v.path = text
	return nil
}

// String implements pflag.Value.
func (v pathFlag) String() string {
	if v.path == nil {
		return ""
	}
	return *v.path
}

// Type implements pflag.Value.
func (pathFlag) Type() string { return "string" }

// madeFile is a file that the command makes. What stands there stays until the first
// Write: a run that has nothing to write changes nothing.
type madeFile struct {
	*os.File
	begun bool
}

// maxHead is how much of a file is read to see what it is.
const maxHead = 4096

// makeFile makes the file that a flag names, or opens one to be replaced: that must be
// empty, or of the kind that isOwn knows by its beginning, and none of taken, the files
// that the command uses otherwise.
func makeFile(flag, path, kind string, isOwn func(head []byte) bool, taken ...*os.File) (_ *madeFile, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, badFile(flag, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if !info.Mode().IsRegular() { // a pipe or a device: nothing is replaced
		return &madeFile{File: file, begun: true}, nil
	}
	for _, other := range taken {
		if other != nil && sameFile(file, other) {
			return nil, badUsage("%s: %s is read or written by this run: give another file", flag, path)
		}
	}
	head := make([]byte, maxHead)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if n > 0 && !isOwn(head[:n]) {
		return nil, badUsage("%s: %s is there and no %s, so it is not replaced: give another file", flag, path, kind)
	}
	return &madeFile{File: file}, nil
}

// Write implements io.Writer.
func (f *madeFile) Write(p []byte) (int, error) {
	if !f.begun {
		if err := f.Truncate(0); err != nil {
			return 0, err
		}
		f.begun = true
	}
	return f.File.Write(p)
}
