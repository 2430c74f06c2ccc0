package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	singleFile = "model.safetensors"
	indexFile  = "model.safetensors.index.json"
)

// shards are the files of a folder that have its tensors.
type shards struct {
	files []string
	index map[string]string // the file of each tensor; nil: there is one file
}

// findShards reads the index, unless there is the single file, which the reference takes
// first. Other files of the folder are not looked at.
func findShards(fsys fs.FS) (shards, error) {
	single := shards{files: []string{singleFile}}
	if _, err := fs.Stat(fsys, singleFile); err == nil {
		return single, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return shards{}, err
	}
	index, err := readIndex(fsys)
	if err != nil {
		return shards{}, err
	}
	if index == nil { // the single file is missed by its name
		return single, nil
	}
	files := slices.Compact(slices.Sorted(maps.Values(index)))
	for _, file := range files {
		if !fs.ValidPath(file) || file == "." {
			return shards{}, fmt.Errorf("%w: %s names %.80q, which is outside of the folder", ErrFormat, indexFile, file)
		}
		if strings.ContainsFunc(file, unicode.IsControl) {
			return shards{}, fmt.Errorf("%w: %s names %.80q, which is no name of a file", ErrFormat, indexFile, file)
		}
	}
	return shards{files, index}, nil
}

// placed checks that a tensor found in a file is where the index says.
func (s shards) placed(tensor, file string) error {
	if s.index != nil && s.index[tensor] != file {
		return fmt.Errorf("%w: %s has tensor %.80q, which %s does not place there", ErrFormat, file, tensor, indexFile)
	}
	return nil
}

// complete checks that what the index promises was found.
func (s shards) complete(found func(tensor string) bool) error {
	for name, file := range s.index {
		if !found(name) {
			return fmt.Errorf("%w: %s has no tensor %.80q, which %s promises", ErrFormat, file, name, indexFile)
		}
	}
	return nil
}

// openShards opens the files that have the tensors: those that the index names,
// else the single one.
func (c *Checkpoint) openShards(fsys fs.FS) error {
	s, err := findShards(fsys)
	if err != nil {
		return err
	}
	for _, file := range s.files {
		if err := c.openShard(fsys, file, s); err != nil {
			return err
		}
	}
	return s.complete(func(name string) bool {
		_, ok := c.tensors[c.Config.TensorName(name)]
		return ok
	})
}

// openShard adds the tensors of a file.
func (c *Checkpoint) openShard(fsys fs.FS, name string, all shards) error {
	file, at, size, err := openShardFile(fsys, name)
	if err != nil {
		return err
	}
	c.files, c.size = append(c.files, file), c.size+size
	tensors, err := readSafetensors(at, size)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := checkCount(len(c.tensors)+len(tensors), c.size); err != nil {
		return fmt.Errorf("%w: %s, and the files before: %w", ErrFormat, name, err)
	}
	for _, t := range tensors {
		if err := all.placed(t.Name, name); err != nil {
			return err
		}
		was := t.Name
		t.Name = c.Config.TensorName(was)
		if _, twice := c.tensors[t.Name]; twice {
			return fmt.Errorf("%w: %s has tensor %.80q, which is %s, a second time", ErrFormat, name, was, t.Name)
		}
		c.tensors[t.Name] = t
	}
	return nil
}

// openShardFile opens a file that must be there.
func openShardFile(fsys fs.FS, name string) (fs.File, io.ReaderAt, int64, error) {
	file, at, size, err := openFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s is missing", ErrNotFound, name)
	}
	return file, at, size, err
}
