package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/cbactor/cbactor/checkpoint"
)

// root is a folder of which routes may be told to read files.
type root struct {
	given string // as a path has it
	real  string // without symbolic links
}

// rootsOf are folders that are to be there.
func rootsOf(folders []string) ([]root, error) {
	var list []root
	for _, folder := range folders {
		if folder == "" {
			return nil, errors.New("a root of weights has no name: give that of a folder")
		}
		given, err := filepath.Abs(folder)
		if err != nil {
			return nil, fmt.Errorf("root %s of weights: %w", folder, err)
		}
		real, err := filepath.EvalSymlinks(given)
		if err != nil {
			return nil, fmt.Errorf("root of weights: %w", err)
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("root %s of weights is no folder", folder)
		}
		list = append(list, root{given, real})
	}
	return list, nil
}

// files is what a path of this machine leads to: the root that it lies in, as a file system of
// which nothing else is reached, whatever symbolic links there are, and the path there.
type files struct {
	*os.Root
	path string
}

// within opens what a path leads to, a file or a folder. The caller closes it.
func (s *Server) within(param, path string) (f files, err error) {
	if path == "" {
		return f, bad(param, "is missing: give a path on the server's machine")
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return f, fmt.Errorf("%s: %w", param, err)
	}
	for _, r := range s.roots {
		for _, folder := range []string{r.given, r.real} {
			if name, err := filepath.Rel(folder, whole); err == nil && filepath.IsLocal(name) {
				return r.open(param, path, filepath.ToSlash(name))
			}
		}
	}
	return f, &refusal{http.StatusForbidden, fmt.Sprintf("%s %.200q is in no folder that the server reads: --weights-root says which it does", param, path), param, "path_not_allowed"}
}

// open opens the root for a path in it that is there.
func (r root) open(param, path, name string) (f files, err error) {
	in, err := os.OpenRoot(r.real)
	if err != nil {
		return f, fmt.Errorf("%s: %w", param, err)
	}
	if _, err := fs.Stat(in.FS(), name); err != nil {
		return f, errors.Join(unreadable(param, path, err), in.Close())
	}
	return files{in, name}, nil
}

// unreadable is an error of opening a path in a root.
func unreadable(param, path string, err error) error {
	var outside *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &refusal{http.StatusNotFound, fmt.Sprintf("%s %.200q is not there", param, path), param, "file_not_found"}
	case errors.As(err, &outside):
		return &refusal{http.StatusForbidden, fmt.Sprintf("%s %.200q is not read: %v", param, path, outside.Err), param, "path_not_allowed"}
	}
	return err
}

// tensors opens the safetensors files that a path leads to.
func (s *Server) tensors(param, path string) (stream *checkpoint.Stream, err error) {
	f, err := s.within(param, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }() // files that are open stay so
	if stream, err = checkpoint.OpenStreamIn(f.FS(), f.path); err != nil {
		return nil, unreadable(param, path, err)
	}
	return stream, nil
}
