package checkpoint

import (
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Found is a tensor as the files of a model have it: under the name, the type and the shape
// that they say.
type Found struct {
	Name  string
	Type  string
	Shape []int
	Bytes int
}

// Survey lists the tensors of a model's files, in the order of their names, also of a model
// that Open refuses. What could be read before an error is listed. Errors are those of
// Metadata.
func Survey(path string) (list []Found, err error) {
	defer func() {
		slices.SortFunc(list, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	}()
	folder, err := folderAt(path)
	if err != nil {
		return nil, err
	}
	if folder != nil {
		return surveyFolder(folder)
	}
	err = withGGUF(path, func(f *ggufFile) {
		for _, t := range f.tensors {
			list = append(list, Found{t.name, t.kind.name, t.shape, int(t.size)})
		}
	})
	return list, err
}

func surveyFolder(fsys fs.FS) (list []Found, err error) {
	all, err := findShards(fsys)
	if err != nil {
		return nil, err
	}
	for _, name := range all.files {
		found, err := surveyShard(fsys, name)
		if list = append(list, found...); err != nil {
			return list, err
		}
	}
	return list, nil
}

func surveyShard(fsys fs.FS, name string) (list []Found, err error) {
	file, at, size, err := openShardFile(fsys, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = closeAfter(file, err) }()
	entries, _, err := readHeader(io.NewSectionReader(at, 0, size), size, nil)
	if err != nil {
		return nil, err
	}
	for s := range entries.all() {
		list = append(list, Found{s.Name, s.kind(), s.Shape, int(s.end - s.begin)})
	}
	return list, nil
}
