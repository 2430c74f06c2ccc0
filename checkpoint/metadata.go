package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/cbactor/cbactor/checkpoint/tiny"
	"github.com/cbactor/cbactor/model"
)

// Entry is something that a model's files say of it.
type Entry struct {
	Key   string `json:"key"`
	Value string `json:"value"` // as JSON; a long list as its length, a long text cut
}

// maxEntry is how long a value may be before it is cut, in bytes.
const maxEntry = 200

// Metadata is what the files of a model say of it, by key: the fields of config.json, those
// of its text_config behind that name and a dot, or the keys of a GGUF file, which a Checkpoint has only as far as they are understood, also of
// a model that Open refuses. Errors wrap ErrNotFound or ErrFormat, or are those of the file
// system.
func Metadata(path string) ([]Entry, error) {
	folder, err := folderAt(path)
	if err != nil {
		return nil, err
	}
	if folder != nil {
		return folderMetadata(folder)
	}
	return ggufMetadata(path)
}

// folderAt is the folder of a model, nil for a GGUF file.
func folderAt(path string) (fs.FS, error) {
	if path == Embedded {
		return tiny.FS, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %q", ErrNotFound, path)
	case err != nil:
		return nil, err
	case info.IsDir():
		return os.DirFS(path), nil
	}
	return nil, nil
}

func folderMetadata(fsys fs.FS) ([]Entry, error) {
	all, err := readFields(fsys, "config.json")
	if err != nil {
		return nil, err
	}
	const inner = "text_config"
	if text, err := model.Fields(all[inner]); err == nil { // what is no object is shown as it is
		for key, value := range text {
			all[inner+"."+key] = value
		}
	}
	list := make([]Entry, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		var value bytes.Buffer
		if err := json.Compact(&value, all[key]); err != nil {
			return nil, fmt.Errorf("%w: config.json: %w", ErrFormat, err)
		}
		list = append(list, Entry{cut(key), cut(value.String())})
	}
	return list, nil
}

func ggufMetadata(path string) (list []Entry, err error) {
	err = withGGUF(path, func(f *ggufFile) {
		for _, key := range slices.Sorted(maps.Keys(f.meta)) {
			list = append(list, Entry{cut(key), ggufWords(f.meta[key])})
		}
	})
	return list, err
}

// withGGUF reads the header of a GGUF file.
func withGGUF(path string, read func(*ggufFile)) (err error) {
	file, at, size, err := openFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(file, err) }()
	f, err := readGGUF(at, size)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	read(f)
	return nil
}

// ggufWords is a value of GGUF metadata in words.
func ggufWords(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", cut(v)) // which makes much more of a long text
	case *ggufList:
		if v.texts != nil {
			return fmt.Sprintf("%d texts", v.n)
		}
		return fmt.Sprintf("%d values", v.n)
	}
	return fmt.Sprint(v)
}

// cut is the beginning of a value, which need not be UTF-8, no character cut.
func cut(s string) string {
	if len(s) <= maxEntry {
		return s
	}
	end := maxEntry
	for end > maxEntry-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
