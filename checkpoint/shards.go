package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

const (
	singleFile = "model.safetensors"
	indexFile  = "model.safetensors.index.json"
)

// openShards opens the files that have the tensors: those that the index names,
// else the single one. Other files of the folder are not looked at.
func (c *Checkpoint) openShards(fsys fs.FS) error {
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := readJSON(fsys, indexFile, maxIndexFile, &index); err != nil {
		return err
	}
	if index.WeightMap == nil {
		return c.openShard(fsys, singleFile, nil)
	}
	for _, shard := range slices.Compact(slices.Sorted(maps.Values(index.WeightMap))) {
		if !fs.ValidPath(shard) || shard == "." {
			return fmt.Errorf("%w: %s names %.80q, which is outside of the folder", ErrFormat, indexFile, shard)
		}
		if err := c.openShard(fsys, shard, index.WeightMap); err != nil {
			return err
		}
	}
	for name, shard := range index.WeightMap {
		if _, ok := c.tensors[name]; !ok {
			return fmt.Errorf("%w: %s has no tensor %.80q, which %s promises", ErrFormat, shard, name, indexFile)
		}
	}
	return nil
}

// openShard adds the tensors of a file. With an index each must be where that says.
func (c *Checkpoint) openShard(fsys fs.FS, name string, index map[string]string) error {
	file, at, size, err := openFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is missing", ErrNotFound, name)
	}
	if err != nil {
		return err
	}
	c.files = append(c.files, file)
	tensors, err := readSafetensors(at, size)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, t := range tensors {
		if index != nil && index[t.Name] != name {
			return fmt.Errorf("%w: %s has tensor %.80q, which %s does not place there", ErrFormat, name, t.Name, indexFile)
		}
		c.tensors[t.Name] = t
	}
	return nil
}
